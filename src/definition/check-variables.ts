import { describeMismatch, parseReferences, parseVariable, variable, type Variables } from '../kit/index.ts'
import type { VariableUse } from './definition.ts'
import type { TextWithReference } from './loading.ts'
import type { Making } from './making.ts'
import type { Node } from './node.ts'
import type { Span } from './source.ts'

/**
 * Checks every `${env.NAME}`: where it stands, how it is written, and, if the values are given, that it has one; and that
 * those which `env:` declares have a value of their type.
 * @returns both, by name
 */
export function checkVariables(making: Making, values: Variables | undefined): Record<string, VariableUse> {
  const { references } = making.loading
  const allowed = new Set<Node>()
  for (const place of making.variablePlaces) addScalars(place, allowed)
  const found = new Map<string, VariableUse>()
  for (const [name, { variable: declared }] of making.declared) {
    found.set(name, { optional: declared.default !== undefined, declared })
  }
  if (values !== undefined) checkDeclared(making, values)
  for (const text of references) {
    if (text.node === undefined || !allowed.has(text.node)) reportPlace(making, text)
    else checkText(making, text, { values, found })
  }
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function checkDeclared({ loading: { report }, declared }: Making, values: Variables): void {
  for (const [name, { variable: one, at }] of declared) {
    const text = variable(values, name)
    if (text === undefined && one.default === undefined) {
      const hint = `Set ${name} in the environment or in .env${one.secret ? '' : ', or declare a default'}`
      report.add({ code: 'WP_DEFINITION_ENV_MISSING', at, parameters: { name }, hint })
    } else if (text !== undefined && parseVariable(text, one.type) === undefined) {
      const parameters = { name, mismatch: describeMismatch(one, text) }
      report.add({ code: 'WP_DEFINITION_ENV_TYPE', at, parameters })
    }
  }
}

function addScalars(node: Node, allowed: Set<Node>): void {
  if (node.kind === 'scalar') allowed.add(node)
  if (node.kind === 'list') for (const item of node.items) addScalars(item, allowed)
  if (node.kind === 'map') for (const { value } of node.entries.values()) addScalars(value, allowed)
}

function reportPlace({ loading }: Making, { text, at }: TextWithReference): void {
  const { references, broken } = parseReferences(text)
  const [first] = [...references, ...broken].toSorted((a, b) => a.start - b.start)
  const reference = text.slice(first?.start, first?.end)
  const parameters = { reference }
  loading.report.add({ code: 'WP_DEFINITION_ENV_PLACE', at: within(at, reference), parameters })
}

interface Known {
  readonly values: Variables | undefined
  readonly found: Map<string, VariableUse>
}

function checkText({ loading: { report } }: Making, { text, at }: TextWithReference, { values, found }: Known): void {
  const { references, broken } = parseReferences(text)
  for (const { start, end } of broken) {
    const reference = text.slice(start, end)
    report.add({ code: 'WP_DEFINITION_ENV_INVALID', at: within(at, reference), parameters: { reference } })
  }
  for (const { name, fallback, start, end } of references) {
    const place = within(at, text.slice(start, end))
    if (name.startsWith('WAYPOST_')) {
      report.add({ code: 'WP_DEFINITION_ENV_RESERVED', at: place, parameters: { name } })
      continue
    }
    const known = found.get(name)
    found.set(name, { ...known, optional: fallback !== undefined && known?.optional !== false })
    const isMissing = values !== undefined && fallback === undefined && variable(values, name) === undefined
    if (isMissing) report.add({ code: 'WP_DEFINITION_ENV_MISSING', at: place, parameters: { name } })
  }
}

/** The reference in its text, where it stands there as it is; a quoted text may have escapes in it. */
function within(at: Span, reference: string): Span {
  const found = at.origin.source.text.slice(at.start, at.end).indexOf(reference)
  return found === -1 ? at : { ...at, start: at.start + found, end: at.start + found + reference.length }
}
