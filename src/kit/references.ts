import { variable, type Variables } from './environment.ts'

/** One `${env.NAME}` or `${env.NAME:-default}` in a text. */
export interface Reference {
  readonly name: string
  readonly fallback: string | undefined
  /** Index in the text. */
  readonly start: number
  readonly end: number
}

/** A `${env.` that is not completed as it must be. */
export interface BrokenReference {
  readonly start: number
  readonly end: number
}

const reference = /\$\{env\.([A-Za-z_][A-Za-z0-9_]*)(?::-((?:(?!\$\{)[^}])*))?\}/y

/** Whether a text holds anything that looks like a reference to a variable. */
export function hasReferences(text: string): boolean {
  return text.includes('${env.')
}

/** The references to variables in a text, in order, and the places where one begins but is malformed. */
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
    end = match === null ? endOfBroken(text, start) : start + match[0].length
    if (match === null) broken.push({ start, end })
    else references.push({ name: match[1]!, fallback: match[2], start, end })
  }
  return { references, broken }
}

function endOfBroken(text: string, start: number): number {
  const near = text.slice(start, start + 100)
  const close = near.indexOf('}')
  return start + (close === -1 ? near.length : close + 1)
}

/**
 * A value with every reference in its texts replaced, at any depth. A variable that is set to nothing counts as missing:
 * its default holds, and without one the reference stays as it is and the name is listed in `missing`.
 */
export function resolveReferences<Value>(
  value: Value,
  variables: Variables,
): { readonly value: Value; readonly missing: readonly string[] } {
  const missing = new Set<string>()
  return { value: resolveValue(value, { variables, missing }) as Value, missing: [...missing] }
}

interface Resolving {
  readonly variables: Variables
  readonly missing: Set<string>
}

function resolveValue(value: unknown, resolving: Resolving): unknown {
  if (typeof value === 'string') return hasReferences(value) ? resolveText(value, resolving) : value
  if (Array.isArray(value)) return value.map((item) => resolveValue(item, resolving))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolveValue(item, resolving)]))
}

function resolveText(text: string, { variables, missing }: Resolving): string {
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
