/** A parameter in a statement, for example `:id` or `:user.id`. */
export interface Placeholder {
  /** Without the colon. */
  readonly name: string
}

export interface ParsedStatement {
  /** The text of the statement without its parameters, and the parameters between. */
  readonly parts: readonly (string | Placeholder)[]
  /** The word that says what the statement does: that after the expressions of `with`; empty if there is none. */
  readonly verb: string
  /** Whether the statement cannot change data, apart from functions that it calls. */
  readonly isReading: boolean
}

export interface ParseOptions {
  /** Identifiers in brackets, and `?` as a placeholder, as on SQLite. */
  readonly isSqlite: boolean
}

const word = String.raw`[\p{L}\p{N}_][\p{L}\p{N}_$]*`

/** In this order. Comments can be nested on PostgreSQL, and dollar quotes have any tag, so these two only begin here. */
const tokens = {
  space: /\s+|--[^\n]*/uy,
  comment: /\/\*/uy,
  quoted: /[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`/suy,
  dollar: /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy,
  cast: /::|:=/uy,
  placeholder: /:([A-Za-z_]\w*)/uy,
  foreign: /\$[\p{L}\p{N}_]+|\?\d+/uy,
  word: new RegExp(word, 'uy'),
  other: /[^]/uy,
} as const

const modifying: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'replace', 'merge'])
const main: ReadonlySet<string> = new Set(['select', 'values', ...modifying])

/** Words that the name of a table can follow. */
const beforeTable: ReadonlySet<string> = new Set(['from', 'join', 'into', 'update', 'using', 'only'])

/**
 * Parses one statement. Finds parameters outside of strings, comments, quoted identifiers and dollar quotes.
 * @returns the problem if the text is not exactly one statement that reads or changes rows
 */
export function parseStatement(text: string, options: ParseOptions): ParsedStatement | { readonly problem: string } {
  try {
    return new Parser(text, options).parse()
  } catch (error) {
    if (error instanceof StatementProblem) return { problem: error.message }
    throw error
  }
}

class StatementProblem extends Error {}

class Parser {
  readonly #text: string
  readonly #isSqlite: boolean
  readonly #parts: (string | Placeholder)[] = []
  #at = 0
  /** Where the text begins that is not in `parts` yet. */
  #start = 0
  #end: number | undefined
  #depth = 0
  #brackets = 0
  #verb = ''
  #isAfterParenthesis = false
  /** The last token, in lower case. */
  #previous = ''
  #isChanging = false

  constructor(text: string, { isSqlite }: ParseOptions) {
    this.#text = text
    this.#isSqlite = isSqlite
  }

  parse(): ParsedStatement {
    while (this.#at < this.#text.length) this.#readToken()
    this.#parts.push(this.#text.slice(this.#start, this.#end).trimEnd())
    if (this.#depth > 0) throw new StatementProblem('A parenthesis is not closed')
    if (this.#verb === '') throw new StatementProblem('The query is empty')
    if (!main.has(this.#verb))
      throw new StatementProblem(
        `A statement cannot begin with "${this.#verb}"; use select, with, values, ${[...modifying].join(', ')}`,
      )
    return { parts: this.#parts, verb: this.#verb, isReading: !modifying.has(this.#verb) && !this.#isChanging }
  }

  #match(token: RegExp): RegExpExecArray | null {
    token.lastIndex = this.#at
    return token.exec(this.#text)
  }

  #readToken(): void {
    for (const [kind, token] of Object.entries(tokens)) {
      const found = this.#match(token)
      if (found === null) continue
      if (kind === 'space') this.#at += found[0].length
      else if (kind === 'comment') this.#skipComment()
      else this.#readCode(kind as keyof typeof tokens, found)
      return
    }
  }

  #readCode(kind: keyof typeof tokens, [text, name]: RegExpExecArray): void {
    if (this.#end !== undefined && text !== ';') throw new StatementProblem('Only one statement is allowed')
    const start = this.#at
    this.#at += text.length
    if (kind === 'dollar') this.#skipDollarQuote(text)
    else if (kind === 'placeholder') this.#readPlaceholder(start, name!)
    else if (kind === 'foreign') throw new StatementProblem(`Write a parameter as :name instead of ${text}`)
    else if (kind === 'word') this.#readWord(text.toLowerCase())
    else if (kind === 'quoted') this.#refuseOwnTable(text.slice(1, -1))
    else if (kind === 'other') this.#readCharacter(text, start)
    this.#isAfterParenthesis = text === '('
    this.#previous = text.toLowerCase()
  }

  /** PostgreSQL nests comments. On SQLite the first end counts; such a comment is then reported as open. */
  #skipComment(): void {
    let open = 0
    const edge = /\/\*|\*\//g
    edge.lastIndex = this.#at
    for (let found = edge.exec(this.#text); found !== null; found = edge.exec(this.#text)) {
      open += found[0] === '/*' ? 1 : -1
      this.#at = edge.lastIndex
      if (open === 0) return
    }
    throw new StatementProblem('A comment is not closed')
  }

  #skipDollarQuote(tag: string): void {
    const end = this.#text.indexOf(tag, this.#at)
    if (end === -1) throw new StatementProblem(`The quote ${tag} is not closed`)
    this.#at = end + tag.length
  }

  #readPlaceholder(start: number, name: string): void {
    const isJoined = /[\p{L}\p{N}_$)\]"]/u.test(this.#text[start - 1] ?? '')
    if (this.#brackets > 0 && isJoined) return // a slice of an array: values[low:high]
    let full = name
    if (name === 'user') {
      const [property] = /^\.[A-Za-z_]\w*/.exec(this.#text.slice(this.#at)) ?? ['']
      full += property
      this.#at += property.length
    }
    this.#parts.push(this.#text.slice(this.#start, start) + (isJoined ? ' ' : ''), { name: full })
    this.#start = this.#at
  }

  /** Early feedback for the usual forms. The database knows which tables a statement really uses. */
  #refuseOwnTable(name: string): void {
    if (/^waypost_/i.test(name) && beforeTable.has(this.#previous))
      throw new StatementProblem(`The table "${name}" belongs to Waypost; use one of your own tables`)
  }

  #readWord(text: string): void {
    this.#refuseOwnTable(text)
    if (this.#isAfterParenthesis && modifying.has(text)) this.#isChanging = true
    if (this.#verb === '' || (this.#verb === 'with' && this.#depth === 0 && main.has(text))) this.#verb = text
  }

  #readCharacter(text: string, start: number): void {
    if (`'"\``.includes(text)) throw new StatementProblem(`A quote ${text} is not closed`)
    if (text === ';') this.#end ??= start
    if (text === '(') this.#depth += 1
    if (text === ')') this.#depth -= 1
    if (this.#depth < 0) throw new StatementProblem('A closing parenthesis has no opening one')
    if (this.#isSqlite && (text === '?' || text === '@'))
      throw new StatementProblem(`Write a parameter as :name instead of ${text}`)
    if (text === '[' && this.#isSqlite) {
      const end = this.#text.indexOf(']', start)
      if (end === -1) throw new StatementProblem('A quote [ is not closed')
      this.#at = end + 1
    } else if (text === '[') this.#brackets += 1
    else if (text === ']') this.#brackets -= 1
  }
}
