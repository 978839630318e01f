import type { SchemaValidateFunction } from 'ajv'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { hasReferences } from '../kit/index.ts'
import { escapeStep } from '../schema/index.ts'
import { recordScopes, type ClassUseNode, type DefinitionContext } from './definition-context.ts'
import { entriesOf, findNode, itemsOf, valueOf, type Node, type ScalarNode } from './node.ts'
import { checkName } from './section.ts'

/** A value of a config whose schema has a keyword of Waypost. */
export interface Annotation {
  readonly keyword: 'x-waypost' | 'variable'
  readonly names: unknown
  readonly value: unknown
  /** JSON pointer within the config. */
  readonly at: string
}

/** Makes a validator collect the annotations of the values that it validates. */
export function addAnnotations(ajv: Ajv2020, annotations: Annotation[]): void {
  for (const keyword of ['x-waypost', 'variable'] as const) {
    const validate: SchemaValidateFunction = (names: unknown, value: unknown, _schema, context) =>
      annotations.push({ keyword, names, value, at: context?.instancePath ?? '' }) > 0
    ajv.addKeyword({ keyword, errors: false, validate })
  }
}

/** Checks the names in a config, and that an action uses variables only where its schema allows them. */
export function checkAnnotations(
  context: DefinitionContext,
  { kind, node }: ClassUseNode,
  annotations: readonly Annotation[],
): void {
  const config = valueOf(node, 'config')
  if (config === undefined) return
  for (const { keyword, names, value, at } of annotations) {
    if (keyword === 'x-waypost' && typeof value === 'string' && !hasReferences(value))
      checkNamed(context, { names, value, at: findNode(config, at) })
  }
  if (kind !== 'action') return
  const allowed = annotations.filter(({ keyword, names }) => keyword === 'variable' && names === true)
  checkVariablePlaces(context, config, new Set(allowed.map(({ at }) => at)))
}

interface NamedThing {
  readonly names: unknown
  readonly value: string
  readonly at: Node
}

function checkNamed(context: DefinitionContext, { names, value, at }: NamedThing): void {
  const { schemas, sections, loading } = context
  const { report } = loading
  if (names === 'event') checkName(sections.event, value, { at, report })
  else if (names === 'connection' && value !== 'System') checkName(sections.connection, value, { at, report })
  else if (names === 'scope') recordScopes(context, [at])
  else if (names === 'schema' && checkName(schemas.section, value, { at, report })) context.schemasInConfigs.add(value)
}

function checkVariablePlaces({ loading }: DefinitionContext, config: Node, allowed: ReadonlySet<string>): void {
  for (const { at, value } of scalarsOf(config, '')) {
    if (typeof value.value !== 'string' || !hasReferences(value.value) || allowed.has(at)) continue
    const problem = `"config${at}" cannot contain a variable: the class needs its value when the release is built`
    const hint = 'Write the value itself'
    loading.report.add({ code: 'WP_DEFINITION_CLASS_CONFIG', at: value, parameters: { problem }, hint })
  }
}

function* scalarsOf(node: Node, at: string): Iterable<{ readonly at: string; readonly value: ScalarNode }> {
  if (node.kind === 'scalar') yield { at, value: node }
  for (const { key, value } of entriesOf(node)) yield* scalarsOf(value, `${at}/${escapeStep(key)}`)
  for (const [index, item] of itemsOf(node).entries()) yield* scalarsOf(item, `${at}/${index}`)
}
