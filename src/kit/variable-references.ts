import { variable, type Variables } from './environment.ts'

/** One `${env.NAME}` or `${env.NAME:-default}` in a text. */
export interface Reference {
  readonly name: string
  readonly fallback: string | undefined
  /** Index in the text. */
  readonly start: number
  readonly end: number
}

/** A `${env.` that is not followed by a valid reference. */
export interface BrokenReference {
  readonly start: number
  readonly end: number
}

const reference = /\$\{env\.([A-Za-z_][A-Za-z0-9_]*)(?::-((?:(?!\$\{)[^}])*))?\}/y

/** Whether a text contains something that looks like a variable reference. */
export function hasReferences(text: string): boolean {
  return text.includes('${env.')
}

/** Finds the variable references in a text, in order, and the positions of malformed ones. */
export function parseReferences(text: string): {
  readonly references: readonly Reference[]
  readonly broken: readonly BrokenReference[]
} {
  const references: Reference[] = []
  const broken: BrokenReference[] = []
  let end = 0
  for (let start = text.indexOf('${env.'); start !== -1; start = text.indexOf('${env.', end)) {
    reference.lastIndex = start
    const match = reference.exec(text)
    end = match === null ? findBrokenEnd(text, start) : start + match[0].length
    if (match === null) broken.push({ start, end })
    else references.push({ name: match[1]!, fallback: match[2], start, end })
  }
  return { references, broken }
}

function findBrokenEnd(text: string, start: number): number {
  const near = text.slice(start, start + 100)
  const close = near.indexOf('}')
  return start + (close === -1 ? near.length : close + 1)
}

/**
 * Replaces every reference in the texts of a value, at any depth. An empty variable counts as missing: its default
 * applies. Without a default the reference stays unchanged and `missing` lists its name.
 */
export function resolveReferences<Value>(
  value: Value,
  variables: Variables,
): { readonly value: Value; readonly missing: readonly string[] } {
  const missing = new Set<string>()
  const resolve = (text: string) => resolveText(text, { variables, missing })
  return { value: mapTexts(value, resolve) as Value, missing: [...missing] }
}

interface ResolveState {
  readonly variables: Variables
  readonly missing: Set<string>
}

/** Replaces the texts with references in a value, at any depth. */
function mapTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return hasReferences(value) ? replace(value) : value
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, replace))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, replace)]))
}

function resolveText(text: string, { variables, missing }: ResolveState): string {
  let resolved = ''
  let end = 0
  for (const { name, fallback, start, end: next } of parseReferences(text).references) {
    const value = variable(variables, name) ?? fallback
    if (value === undefined) missing.add(name)
    resolved += text.slice(end, start) + (value ?? text.slice(start, next))
    end = next
  }
  return resolved + text.slice(end)
}

/**
 * Writes defaults into the references without one, at any depth, as if `${env.NAME:-default}` had been written.
 * @param defaultOf returns undefined for a name without a default; `canBeDefault` is true for each that it returns
 */
export function fillReferences<Value>(value: Value, defaultOf: (name: string) => string | undefined): Value {
  return mapTexts(value, (text) => {
    let filled = ''
    let end = 0
    for (const { name, fallback, start, end: next } of parseReferences(text).references) {
      const known = fallback ?? defaultOf(name)
      filled += text.slice(end, start) + (known === undefined ? text.slice(start, next) : `\${env.${name}:-${known}}`)
      end = next
    }
    return filled + text.slice(end)
  }) as Value
}

/** Whether a text can be the default of a reference: its end would not be found otherwise. */
export function canBeDefault(text: string): boolean {
  return !text.includes('}') && !text.includes('${')
}
