import type { SchemaValidateFunction } from 'ajv'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import type { TablesSnapshot } from '../contract/index.ts'
import { hasReferences } from '../kit/index.ts'
import { escapeStep } from '../schema/index.ts'
import { recordScopes, type ClassUseNode, type DefinitionContext } from './definition-context.ts'
import { entriesOf, findNode, itemsOf, textOf, valueOf, type Entry, type Node, type ScalarNode } from './node.ts'
import type { Report } from './report.ts'
import { checkName } from './section.ts'

/** A value of a config whose schema has a keyword of Waypost. */
export interface Annotation {
  readonly keyword: 'x-waypost' | 'x-waypost-other' | 'variable'
  readonly names: unknown
  readonly value: unknown
  /** JSON pointer within the config. */
  readonly at: string
}

/** Makes a validator collect the annotations of the values that it validates. */
export function addAnnotations(ajv: Ajv2020, annotations: Annotation[]): void {
  for (const keyword of ['x-waypost', 'x-waypost-other', 'variable'] as const) {
    const validate: SchemaValidateFunction = (names: unknown, value: unknown, _schema, context) =>
      annotations.push({ keyword, names, value, at: context?.instancePath ?? '' }) > 0
    ajv.addKeyword({ keyword, errors: false, validate })
  }
}

/** A text in a config that names something of the project. */
export interface ConfigName {
  readonly names: unknown
  readonly name: string
  /** JSON pointer within the config. A key of a map has the pointer of its value. */
  readonly at: string
}

/**
 * Checks the names in a config, and that an action uses variables only where its schema allows them. Tables and columns
 * are checked later.
 * @returns all names, and where unknown ones were reported
 */
export function checkAnnotations(
  context: DefinitionContext,
  { kind, node }: ClassUseNode,
  annotations: readonly Annotation[],
): { readonly names: readonly ConfigName[]; readonly unknown: ReadonlySet<string> } {
  const config = valueOf(node, 'config')
  const names = annotations.flatMap(({ keyword, names: what, value, at }): ConfigName[] => {
    if (keyword !== 'x-waypost' || typeof value !== 'string' || hasReferences(value)) return []
    const isKey = config !== undefined && entryOf(findNode(config, at), value) !== undefined
    return [{ names: what, name: value, at: isKey ? `${at}/${escapeStep(value)}` : at }]
  })
  if (config === undefined) return { names, unknown: new Set() }
  const unknown = names.filter((one) => !checkNamed(context, one, findNode(config, one.at)))
  if (kind === 'action') {
    const allowed = annotations.filter(({ keyword, names: isAllowed }) => keyword === 'variable' && isAllowed === true)
    checkVariablePlaces(context, config, new Set(allowed.map(({ at }) => at)))
  }
  return { names, unknown: new Set(unknown.map(({ at }) => at)) }
}

function entryOf(node: Node, key: string): Entry | undefined {
  return node.kind === 'map' ? node.entries.get(key) : undefined
}

/** Returns false if the name is unknown. */
function checkNamed(context: DefinitionContext, { names, name }: ConfigName, at: Node): boolean {
  const { schemas, sections, loading } = context
  const { report } = loading
  if (names === 'event') return checkName(sections.event, name, { at, report })
  if (names === 'connection') return checkName(sections.connection, name, { at, report, own: ['System'] })
  if (names === 'scope') recordScopes(context, [at])
  if (names !== 'schema') return true
  const isKnown = checkName(schemas.section, name, { at, report })
  if (isKnown) context.schemasInConfigs.add(name)
  return isKnown
}

/** A table that a config names, with the columns that it names. */
export interface TableInConfig<Name extends ConfigName = ConfigName> {
  readonly connection: string
  readonly table: Name
  readonly columns: readonly Name[]
}

/** Connects columns with their table, and tables with their connection: those of the same object or the next outer one. */
export function findTablesInConfig<Name extends ConfigName>(names: readonly Name[]): readonly TableInConfig<Name>[] {
  const of = (what: string) => names.filter((one) => one.names === what)
  const tables = of('table')
  const ownerOf = new Map(of('column').map((column) => [column, findClosest(tables, column)]))
  return tables.map((table) => ({
    connection: findClosest(of('connection'), table)?.name ?? 'System',
    table,
    columns: [...ownerOf].flatMap(([column, owner]) => (owner === table ? [column] : [])),
  }))
}

function findClosest<Name extends ConfigName>(candidates: readonly Name[], { at }: ConfigName): Name | undefined {
  const levelOf = (one: ConfigName) => one.at.split('/').length
  const outer = candidates.filter((one) => at.startsWith(one.at.slice(0, one.at.lastIndexOf('/') + 1)))
  return outer.reduce<Name | undefined>(
    (best, one) => (best === undefined || levelOf(one) > levelOf(best) ? one : best),
    undefined,
  )
}

/**
 * Reports tables and columns that do not exist. Does nothing if the tables of the connection are not known.
 * @returns where unknown names were reported
 */
export function checkTableNames(
  { loading: { report } }: DefinitionContext,
  { connection, table, columns }: TableInConfig,
  { config, tables }: { readonly config: Node; readonly tables: Readonly<Record<string, TablesSnapshot>> },
): readonly string[] {
  const known = Object.hasOwn(tables, connection) ? tables[connection]!.tables : {}
  const all = Object.keys(known)
  // Classes say that they refuse the tables of Waypost, which no snapshot contains.
  if (all.length === 0 || /(?:^|\.)waypost_/i.test(table.name)) return []
  const isTable = Object.hasOwn(known, table.name)
  const wrong = isTable ? columns.filter(({ name }) => !Object.hasOwn(known[table.name]!.columns, name)) : [table]
  const names = isTable ? Object.keys(known[table.name]!.columns) : all
  for (const { name, at, names: what } of wrong) {
    const node = findNode(config, at)
    const parent = findNode(config, at.slice(0, at.lastIndexOf('/')))
    const isKey = textOf(node) !== name
    report.add({
      code: 'WP_DEFINITION_CLASS_CONFIG',
      at: (isKey && entryOf(parent, name)?.keySpan) || node,
      parameters: { problem: `Unknown ${String(what)} "${name}"` },
      hint: suggestFrom(report, name, names),
    })
  }
  return wrong.map(({ at }) => at)
}

const maxListed = 12

/** Returns the hint for an unknown name: the nearest one, or all if they are few. */
export function suggestFrom(report: Report, name: string, known: readonly string[]): string | undefined {
  const suggestion = report.findNearest(name, known)
  if (suggestion !== undefined) return `Did you mean "${suggestion}"?`
  return known.length === 0 || known.length > maxListed ? undefined : `Available: ${known.join(', ')}`
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
