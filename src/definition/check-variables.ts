import {
  canBeDefault,
  describeMismatch,
  parseReferences,
  parseVariable,
  variable,
  type Variables,
} from '../kit/index.ts'
import type { VariableUse } from './definition.ts'
import type { TextWithReference } from './load-context.ts'
import type { DefinitionContext } from './definition-context.ts'
import type { Node } from './node.ts'
import type { Span } from './source.ts'

/**
 * Checks each `${env.NAME}`: its place, its syntax and, if values are given, that it has one. Declared variables in
 * `env:` must have a value of their type.
 * @returns all variables by name
 */
export function checkVariables(context: DefinitionContext, values: Variables | undefined): Record<string, VariableUse> {
  const { references } = context.loading
  const allowed = new Set<Node>()
  for (const place of context.variablePlaces) addScalars(place, allowed)
  const found = new Map<string, VariableUse>()
  for (const [name, { variable: declared }] of context.declared) {
    found.set(name, { optional: declared.default !== undefined, declared })
  }
  if (values !== undefined) checkDeclared(context, values)
  for (const text of references) {
    if (text.node === undefined || !allowed.has(text.node)) reportPlace(context, text)
    else checkText(context, text, { values, found })
  }
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function checkDeclared({ loading: { report }, declared }: DefinitionContext, values: Variables): void {
  for (const [name, { variable: one, at }] of declared) {
    const text = variable(values, name)
    if (text === undefined && one.default === undefined) {
      const hint = `Set ${name} in the environment, in .env or in System (env:set)${one.secret ? '' : ', or declare a default'}`
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

function reportPlace({ loading }: DefinitionContext, { text, at }: TextWithReference): void {
  const { references, broken } = parseReferences(text)
  const [first] = [...references, ...broken].toSorted((a, b) => a.start - b.start)
  const reference = text.slice(first?.start, first?.end)
  const parameters = { reference }
  loading.report.add({ code: 'WP_DEFINITION_ENV_PLACE', at: spanWithin(at, reference), parameters })
}

interface KnownVariables {
  readonly values: Variables | undefined
  readonly found: Map<string, VariableUse>
}

function checkText(
  { loading: { report } }: DefinitionContext,
  { text, at }: TextWithReference,
  { values, found }: KnownVariables,
): void {
  const { references, broken } = parseReferences(text)
  for (const { start, end } of broken) {
    const reference = text.slice(start, end)
    report.add({ code: 'WP_DEFINITION_ENV_INVALID', at: spanWithin(at, reference), parameters: { reference } })
  }
  for (const { name, fallback, start, end } of references) {
    const place = spanWithin(at, text.slice(start, end))
    if (name.startsWith('WAYPOST_')) {
      report.add({ code: 'WP_DEFINITION_ENV_RESERVED', at: place, parameters: { name } })
      continue
    }
    const known = found.get(name)
    const declared = known?.declared?.default
    if (fallback === undefined && declared !== undefined && !canBeDefault(String(declared))) {
      report.add({ code: 'WP_DEFINITION_ENV_DEFAULT', at: place, parameters: { name } })
      continue
    }
    const hasDefault = fallback !== undefined || declared !== undefined
    found.set(name, { ...known, optional: hasDefault && known?.optional !== false })
    const isMissing = values !== undefined && !hasDefault && variable(values, name) === undefined
    if (isMissing) report.add({ code: 'WP_DEFINITION_ENV_MISSING', at: place, parameters: { name } })
  }
}

/** Returns the span of the reference; the whole span if it is not found, since quoted text may contain escapes. */
function spanWithin(at: Span, reference: string): Span {
  const found = at.origin.source.text.slice(at.start, at.end).indexOf(reference)
  return found === -1 ? at : { ...at, start: at.start + found, end: at.start + found + reference.length }
}
