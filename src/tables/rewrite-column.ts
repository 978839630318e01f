import { isCheckOf } from './column-checks.ts'

/** New parts of a column in SQL. What is undefined stays. */
export interface ColumnParts {
  readonly type?: string | undefined
  readonly notNull?: boolean | undefined
  /** An expression; null removes the default. */
  readonly default?: string | null | undefined
  /** The check constraint of its type, which replaces that of an enum or a decimal; null removes it. */
  readonly check?: string | null | undefined
}

interface Token {
  readonly text: string
  readonly start: number
}

const tokenPattern =
  /--[^\n]*|\/\*[^]*?\*\/|\s+|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[\w$\u0080-\uffff.]+|[^]/g

/** Keywords that begin a constraint of a column. */
const constraints =
  /^(constraint|primary|not|null|unique|check|default|collate|references|generated|as|on|deferrable|initially)$/i

/**
 * Changes a column in the text of `create table`, as SQLite stores it. All other text stays.
 * @returns undefined if the text has no such column
 */
export function rewriteColumn(createTable: string, column: string, parts: ColumnParts): string | undefined {
  const tokens = [...createTable.matchAll(tokenPattern)].map(({ 0: text, index: start }) => ({ text, start }))
  const found = listItems(tokens).find(([first]) => isName(first!, column))
  if (found === undefined) return undefined
  const [start, end] = [found[0]!.start, found.at(-1)!.start + found.at(-1)!.text.length]
  return createTable.slice(0, start) + writeItem(createTable, found, parts) + createTable.slice(end)
}

/** Returns the tokens of each column and constraint, without space and comments. */
function listItems(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const items: Token[][] = []
  let depth = 0
  for (const token of tokens) {
    if (token.text === ')') depth -= 1
    if (depth === 0 && items.length > 0) break
    const isSeparator = depth === 1 && token.text === ','
    if (token.text === '(') depth += 1
    if (isSeparator || (depth === 1 && items.length === 0)) items.push([])
    else if (depth > 0 && !/^(\s|--|\/\*)/.test(token.text)) items.at(-1)!.push(token)
  }
  return items.filter((item) => item.length > 0)
}

function isName({ text }: Token, column: string): boolean {
  const name = /^["`[]/.test(text) ? text.slice(1, -1).replaceAll(/(["`])\1/g, '$1') : text
  const isConstraint = name === text && /^(constraint|primary|unique|check|foreign)$/i.test(text)
  return !isConstraint && name.toLowerCase() === column.toLowerCase()
}

function writeItem(
  text: string,
  item: readonly Token[],
  { type, notNull, default: given, check }: ColumnParts,
): string {
  const is = (index: number, word: string) => item[index]?.text.toLowerCase() === word
  const show = (from: number, to: number) =>
    from >= to ? '' : text.slice(item[from]!.start, item[to - 1]!.start + item[to - 1]!.text.length)
  const first = item.findIndex((token, index) => index > 0 && constraints.test(token.text))
  const typeEnd = first === -1 ? item.length : first
  let isNotNull = false
  let fallback: string | undefined
  const rest: string[] = []
  for (let at = typeEnd; at < item.length;) {
    const named = is(at, 'constraint') ? at + 2 : at
    let end = endOf(item, named)
    if (is(named, 'not') && is(named + 1, 'null')) {
      isNotNull = true
      // `on conflict …` is a part of it.
      if (is(end, 'on') && is(end + 1, 'conflict')) end += 3
    } else if (is(named, 'default')) fallback = show(named + 1, end)
    else if (!is(named, 'null') && !(check !== undefined && isTypeCheck(item, at))) rest.push(show(at, end))
    at = end
  }
  const expression = given === undefined ? fallback : (given ?? undefined)
  return [
    show(0, 1),
    type ?? show(1, typeEnd),
    ...((notNull ?? isNotNull) ? ['not null'] : []),
    ...(expression === undefined ? [] : [`default ${expression}`]),
    ...rest,
    check ?? '',
  ]
    .filter((part) => part !== '')
    .join(' ')
}

/** Whether a constraint is that of an enum or a decimal. */
function isTypeCheck(item: readonly Token[], at: number): boolean {
  const name = item[at + 1]?.text.replace(/^"|"$/g, '') ?? ''
  const isNamedCheck = /^constraint$/i.test(item[at]!.text) && /^check$/i.test(item[at + 2]?.text ?? '')
  return isNamedCheck && (isCheckOf(name, 'enum') || isCheckOf(name, 'numeric'))
}

/** Returns the check constraint of an enum in the text of `create table`, if the column has one. */
export function findEnumCheck(
  createTable: string,
  column: string,
): { readonly name: string; readonly text: string } | undefined {
  const tokens = [...createTable.matchAll(tokenPattern)].map(({ 0: text, index: start }) => ({ text, start }))
  const item = listItems(tokens).find(([first]) => isName(first!, column)) ?? []
  const at = item.findIndex((_, index) => isTypeCheck(item, index) && /_enum"?$/.test(item[index + 1]!.text))
  if (at === -1) return undefined
  const last = item[endOf(item, at + 2) - 1]!
  const text = createTable.slice(item[at + 2]!.start, last.start + last.text.length)
  return { name: item[at + 1]!.text.replace(/^"|"$/g, ''), text }
}

/** Returns the index behind a constraint: before the next keyword outside of parentheses that begins one. */
function endOf(item: readonly Token[], start: number): number {
  const isPair = /^(not|primary|generated)$/i.test(item[start]?.text ?? '')
  let depth = 0
  for (let at = start + (isPair ? 2 : 1); at < item.length; at++) {
    const { text } = item[at]!
    if (depth === 0 && constraints.test(text) && !(at === start + 1 && /^default$/i.test(item[start]!.text))) {
      const inReference =
        /^references$/i.test(item[start]!.text) && /^(on|not|deferrable|initially|null|default)$/i.test(text)
      if (!inReference || !isOfReference(item, at)) return at
      at += skipped(item, at)
    }
    if (text === '(') depth += 1
    if (text === ')') depth -= 1
  }
  return item.length
}

/** `on delete set null`, `not deferrable` and `initially deferred` belong to a reference. */
function isOfReference(item: readonly Token[], at: number): boolean {
  const words = item.slice(at, at + 2).map(({ text }) => text.toLowerCase())
  return (
    (words[0] === 'on' && /^(delete|update)$/.test(words[1] ?? '')) ||
    words[1] === 'deferrable' ||
    /^(deferrable|initially)$/.test(words[0]!)
  )
}

function skipped(item: readonly Token[], at: number): number {
  const words = item.slice(at, at + 4).map(({ text }) => text.toLowerCase())
  if (words[0] === 'on') return words[2] === 'set' || words[2] === 'no' ? 3 : 2
  return words[0] === 'deferrable' ? 0 : 1
}
