/** A TypeScript type as text, with its precedence. */
export interface TypeText {
  readonly text: string
  readonly binds: 'atom' | 'intersection' | 'union'
}

export const unknownType: TypeText = { text: 'unknown', binds: 'atom' }
export const neverType: TypeText = { text: 'never', binds: 'atom' }

export function atom(text: string): TypeText {
  return { text, binds: 'atom' }
}

export function makeUnion(types: readonly TypeText[]): TypeText {
  const parts = unique(types).filter(({ text }) => text !== 'never')
  if (parts.length === 0) return neverType
  if (parts.some(({ text }) => text === 'unknown')) return unknownType
  return parts.length === 1 ? parts[0]! : { text: parts.map(({ text }) => text).join(' | '), binds: 'union' }
}

export function makeIntersection(types: readonly TypeText[]): TypeText {
  const parts = unique(types).filter(({ text }) => text !== 'unknown')
  if (parts.length === 0) return unknownType
  if (parts.some(({ text }) => text === 'never')) return neverType
  if (parts.length === 1) return parts[0]!
  const texts = parts.map((part) => (part.binds === 'union' ? `(${part.text})` : part.text))
  return { text: texts.join(' & '), binds: 'intersection' }
}

export function makeArray(item: TypeText): TypeText {
  return atom(`${item.binds === 'atom' ? item.text : `(${item.text})`}[]`)
}

export interface Member {
  /** A property name with its suffix (`?`), or an index signature. */
  readonly key: string
  readonly type: TypeText
  readonly description?: unknown
}

const widest = 72

/** Returns an object type, on one line if it is short. */
export function makeObject(members: readonly Member[]): TypeText {
  if (members.length === 0) return atom('{}')
  const lines = members.map(({ key, type }) => `${key}: ${type.text}`)
  const line = `{ ${lines.join('; ')} }`
  const isPlain = members.every(({ description }) => makeComment(description) === '')
  if (isPlain && line.length <= widest && !line.includes('\n')) return atom(line)
  const blocks = members.map(({ description }, index) => indent(`${makeComment(description)}${lines[index]}`))
  return atom(`{\n${blocks.join('\n')}\n}`)
}

export function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}

/** Returns a docstring line for a description, or an empty text. */
export function makeComment(description: unknown): string {
  if (typeof description !== 'string') return ''
  const text = description.trim().replace(/\s+/g, ' ').replaceAll('*/', '*\\/')
  return text === '' ? '' : `/** ${text} */\n`
}

export function quote(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** Returns a property name, quoted if needed. */
export function makeKey(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : quote(name)
}

/** Returns JSON as a literal type. */
export function makeLiteral(value: unknown): TypeText {
  if (typeof value === 'string') return atom(quote(value))
  if (Array.isArray(value)) return atom(`[${value.map((item) => makeLiteral(item).text).join(', ')}]`)
  if (typeof value !== 'object' || value === null) return atom(JSON.stringify(value) ?? 'unknown')
  return makeObject(Object.entries(value).map(([name, item]) => ({ key: makeKey(name), type: makeLiteral(item) })))
}

function unique(types: readonly TypeText[]): TypeText[] {
  return [...new Map(types.map((type) => [type.text, type])).values()]
}
