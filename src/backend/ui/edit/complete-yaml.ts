import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { isMap, type Json } from './values.ts'

/** Names to offer as values, by the key that they belong to: `dispatch` has events. */
export type CompletionNames = Readonly<Record<string, readonly string[]>>

interface Options {
  readonly schema: Json
  readonly keys: readonly string[]
  readonly names?: CompletionNames
  /** The schemas of configs, by the name of their class. */
  readonly classes?: Readonly<Record<string, Json>>
}

/** The place of the cursor in block style YAML. */
interface Place {
  /** The keys around the cursor, from the outside; `-` for items of a list. */
  readonly keys: readonly string[]
  /** The keys that are beside the cursor. */
  readonly siblings: readonly string[]
  /** The key whose value is typed; undefined if a key is typed. */
  readonly valueOf: string | undefined
  readonly from: number
  /** The class beside the `config` that the cursor is in, and the keys within that config. */
  readonly config?: { readonly class: string; readonly keys: readonly string[] }
}

/** Offers the keys and values that the schema of the definition allows at the cursor. */
export function completeYaml(
  context: CompletionContext,
  { schema, keys, names = {}, classes = {} }: Options,
): CompletionResult | null {
  const { doc } = context.state
  const { number, from, text } = doc.lineAt(context.pos)
  const lines = Array.from({ length: doc.lines }, (_, index) => doc.line(index + 1).text)
  const place = findPlace(lines, number - 1, text.slice(0, context.pos - from))
  if (place === undefined || (!context.explicit && context.pos === from + place.from && place.valueOf === undefined))
    return null
  const { config } = place
  const own = config === undefined ? undefined : classes[config.class]
  const root = own ?? schema
  const path = own === undefined ? [...keys, ...place.keys] : config!.keys
  const options =
    place.valueOf === undefined
      ? listKeys(root, path, place.siblings)
      : listValues(root, [...path, place.valueOf], names)
  return options.length === 0 ? null : { from: from + place.from, options, validFor: /^[\w./:-]*$/ }
}

/** Finds where a cursor is. @param before the text before it, on its line */
export function findPlace(lines: readonly string[], index: number, before: string): Place | undefined {
  if (/(^|\s)#/.test(before) || /[{[]/.test(before)) return undefined
  const typed = /^(?<dashes>\s*(?:- +)*)(?:(?<key>"[^"]*"|'[^']*'|[^\s:][^:]*|[^\s]*?):\s+)?(?<rest>\S*)$/.exec(before)
  if (typed === null) return undefined
  const { dashes = '', key, rest = '' } = typed.groups ?? {}
  const around = findKeys(lines, index, dashes)
  return {
    ...around,
    valueOf: key === undefined ? (dashes.includes('-') && rest !== '' ? '-' : undefined) : unquote(key),
    from: before.length - rest.length,
  }
}

const keyLine = /^(?<dashes>\s*(?:- +)*)(?<key>"[^"]*"|'[^']*'|[^\s#:][^:]*):(?:\s|$)/

function findKeys(
  lines: readonly string[],
  index: number,
  dashes: string,
): Pick<Place, 'keys' | 'siblings' | 'config'> {
  const keys: string[] = []
  const siblings: string[] = []
  let config: Place['config']
  let level = dashes.length
  const addItems = (prefix: string, limit: number) => {
    for (let at = prefix.lastIndexOf('-'); at >= 0; at = prefix.lastIndexOf('-', at - 1)) {
      if (at < limit) {
        keys.unshift('-')
        level = at
      }
    }
  }
  addItems(dashes, level)
  const own = dashes.length
  for (let line = index - 1; line >= 0; line -= 1) {
    const found = keyLine.exec(lines[line]!)?.groups
    if (found === undefined) continue
    const { dashes: prefix = '', key = '' } = found
    if (prefix.length === own && level === own) siblings.push(unquote(key))
    if (prefix.length >= level) {
      if (prefix.length === level) addItems(prefix, level)
      continue
    }
    if (key === 'config') config = findClass(lines, line, { indent: prefix.length, keys: [...keys] })
    keys.unshift(unquote(key))
    level = prefix.length
    addItems(prefix, level)
  }
  for (let line = index + 1; line < lines.length; line += 1) {
    const found = keyLine.exec(lines[line]!)?.groups
    if (found === undefined) continue
    if ((found['dashes'] ?? '').length < own || found['dashes']!.includes('-')) break
    if (found['dashes']!.length === own) siblings.push(unquote(found['key']!))
  }
  return { keys, siblings, ...(config === undefined ? {} : { config }) }
}

/** Finds the class beside a `config`. */
function findClass(
  lines: readonly string[],
  at: number,
  { indent, keys }: { readonly indent: number; readonly keys: readonly string[] },
): Place['config'] {
  for (const step of [-1, 1]) {
    for (let line = at + step; line >= 0 && line < lines.length; line += step) {
      const { dashes = '', key } = keyLine.exec(lines[line]!)?.groups ?? {}
      if (key === undefined || dashes.length > indent) continue
      if (dashes.length < indent) break
      const name = key === 'class' ? /class:\s+(\S+)/.exec(lines[line]!)?.[1] : undefined
      if (name !== undefined) return { class: unquote(name), keys }
      if (dashes.includes('-')) break
    }
  }
  return undefined
}

function unquote(text: string): string {
  return /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text
}

/** Returns the schemas that a value at some keys can have. */
export function schemasAt(root: Json, keys: readonly string[]): readonly Json[] {
  const expand = (schema: unknown, depth = 0): readonly Json[] => {
    if (!isMap(schema) || depth > 8) return []
    const { $ref: reference } = schema
    const target =
      typeof reference === 'string' && reference.startsWith('#/')
        ? reference
            .slice(2)
            .split('/')
            .reduce<unknown>((at, step) => (isMap(at) ? at[step] : undefined), root)
        : undefined
    const choices = (['anyOf', 'oneOf', 'allOf'] as const).flatMap((one) =>
      Array.isArray(schema[one]) ? (schema[one] as readonly unknown[]) : [],
    )
    return [schema, ...[target, ...choices].flatMap((one) => expand(one, depth + 1))]
  }
  return keys.reduce<readonly Json[]>((found, key) => found.flatMap((one) => expand(step(one, key))), expand(root))
}

function step(schema: Json, key: string): unknown {
  const { properties, patternProperties, additionalProperties, items } = schema
  if (key === '-') return items
  if (isMap(properties) && Object.hasOwn(properties, key)) return properties[key]
  const pattern = Object.entries(isMap(patternProperties) ? patternProperties : {}).find(([one]) =>
    new RegExp(one, 'u').test(key),
  )
  return pattern === undefined ? additionalProperties : pattern[1]
}

function listKeys(schema: Json, path: readonly string[], siblings: readonly string[]): Completion[] {
  const found = new Map<string, Completion>()
  for (const { properties } of schemasAt(schema, path)) {
    for (const [key, value] of Object.entries(isMap(properties) ? properties : {})) {
      if (found.has(key) || siblings.includes(key) || (isMap(value) && value['deprecated'] === true)) continue
      found.set(key, { label: key, apply: `${key}: `, type: 'property', ...describe(value) })
    }
  }
  return [...found.values()]
}

function listValues(schema: Json, path: readonly string[], names: CompletionNames): Completion[] {
  const owner = path.findLast((key) => key !== '-') ?? ''
  const given = (names[owner] ?? []).map((label): Completion => ({ label, type: 'constant' }))
  const values = schemasAt(schema, path).flatMap((one) => {
    const fixed = 'const' in one ? [one['const']] : Array.isArray(one['enum']) ? (one['enum'] as unknown[]) : []
    return one['type'] === 'boolean' ? [...fixed, true, false] : fixed
  })
  return [...given, ...[...new Set(values.map(String))].map((label): Completion => ({ label, type: 'enum' }))]
}

function describe(value: unknown): Pick<Completion, 'info' | 'detail'> {
  if (!isMap(value)) return {}
  const { description, type } = value
  return {
    ...(typeof description === 'string' ? { info: description } : {}),
    ...(typeof type === 'string' ? { detail: type } : {}),
  }
}
