import type { ActionUse, ForeignKeySnapshot, TableSnapshot, TablesSnapshot } from 'waypost'
import type { TableConfig } from './config.ts'
import { toPlanColumn, valueTypeOf, type OwnerPlan, type PlanColumn, type RowRule } from './plan.ts'
import { parseSource } from './sources.ts'

type NamedConfig = readonly [name: string, config: TableConfig]

/** The tables of one connection, and the actions of the project that serve them. */
export interface Served {
  readonly tables: TablesSnapshot['tables']
  /** By table. */
  readonly actions: ReadonlyMap<string, readonly NamedConfig[]>
}

const known = new WeakMap<ActionUse['actions'], ReadonlyMap<string, Served['actions']>>()

/** Finds the actions of the class that serve tables of a connection. */
export function findServed(connection: string, { actions }: ActionUse, { tables }: TablesSnapshot): Served {
  const found = known.get(actions) ?? groupByConnection(actions)
  known.set(actions, found)
  return { tables, actions: found.get(connection) ?? new Map() }
}

function groupByConnection(actions: ActionUse['actions']): ReadonlyMap<string, Served['actions']> {
  const all = Object.entries(actions as unknown as Readonly<Record<string, TableConfig>>)
  const groups = Map.groupBy(all, ([, { connection = 'System' }]) => connection)
  return new Map([...groups].map(([name, same]) => [name, Map.groupBy(same, ([, { table }]) => table)]))
}

/** A rule, and the actions that have it. */
export interface NamedRule {
  readonly rule: RowRule
  readonly names: readonly string[]
}

/** How many references lead from a row to the one with the owner, at most. */
export const maxOwnerSteps = 3

/**
 * Returns the different owner rules that actions have for a table. Actions with problems have none.
 * @param maxSteps how many references may lead to the owner
 */
export function findRules(table: string, served: Served, maxSteps = maxOwnerSteps): readonly NamedRule[] {
  const found = (served.actions.get(table) ?? []).flatMap(([name, config]) => {
    const rule = makeRule(config, served, maxSteps)
    return rule === undefined ? [] : [{ name, rule, text: JSON.stringify(rule) }]
  })
  const groups = Map.groupBy(found, ({ text }) => text)
  return [...groups.values()].map((same) => ({ rule: same[0]!.rule, names: same.map(({ name }) => name) }))
}

/** Returns the reference of a column to one other column. */
export function findReference(column: string, table: TableSnapshot): ForeignKeySnapshot | undefined {
  return table.references?.find(({ columns }) => columns.length === 1 && columns[0] === column)
}

/**
 * Returns the rule of the rows that a column refers to: the only one of their table, or that of the action in "parents".
 * @param maxSteps how many references may lead from these rows to their owner
 * @returns undefined if nothing protects these rows, or if it is not clear which rule does
 */
export function chooseRule(
  { parents = {} }: Pick<TableConfig, 'parents'>,
  { columns, table }: ForeignKeySnapshot,
  { served, maxSteps }: { readonly served: Served; readonly maxSteps?: number },
): RowRule | undefined {
  const column = columns.find((one) => Object.hasOwn(parents, one))
  const name = column && parents[column]
  if (name === 'any') return undefined
  const rules = findRules(table, served, maxSteps)
  if (name !== undefined) return rules.find(({ names }) => names.includes(name))?.rule
  return rules.length === 1 ? rules[0]!.rule : undefined
}

/** Returns the owner rule of an action; undefined if it has none. */
export function makeRule(config: TableConfig, served: Served, maxSteps = maxOwnerSteps): RowRule | undefined {
  const table = Object.hasOwn(served.tables, config.table) ? served.tables[config.table]! : undefined
  const owner = table && makeOwner(config, table, { served, maxSteps })
  if (table === undefined || owner === undefined) return undefined
  // The path parameters of another route say nothing here.
  const where = Object.entries(config.where ?? {}).flatMap(([name, given]) => {
    const source = parseSource(given)
    const isUsable = source !== undefined && source.from !== 'params' && typeOf(name, table) !== undefined
    return isUsable ? [[name, source] as const] : []
  })
  const types = [owner.column, ...where.map(([name]) => name)].map((name) => [name, typeOf(name, table)!] as const)
  const { schema } = table
  return {
    table: config.table,
    ...(schema !== undefined && { schema }),
    types: Object.fromEntries(types),
    where: Object.fromEntries(where),
    owner,
  }
}

function makeOwner(
  config: TableConfig,
  table: TableSnapshot,
  { served, maxSteps }: { readonly served: Served; readonly maxSteps: number },
): OwnerPlan | undefined {
  const { owner } = config
  if (owner === undefined) return undefined
  if (typeof owner === 'string' || 'column' in owner) {
    const { column, unless } = typeof owner === 'string' ? { column: owner, unless: undefined } : owner
    const type = typeOf(column, table)?.type
    return type === 'text' || type === 'uuid' ? { column, ...(unless !== undefined && { unless }) } : undefined
  }
  const reference = maxSteps === 0 ? undefined : findReference(owner.through, table)
  return reference && makeThrough(reference, chooseRule(config, reference, { served, maxSteps: maxSteps - 1 }))
}

/** Returns the owner rule of rows whose owner is that of the row they refer to. */
export function makeThrough({ columns, to }: ForeignKeySnapshot, rule: RowRule | undefined): OwnerPlan | undefined {
  if (rule === undefined) return undefined
  const { unless } = rule.owner
  return { column: columns[0]!, ...(unless !== undefined && { unless }), parent: { to: to[0]!, rule } }
}

export function typeOf(name: string, table: TableSnapshot): PlanColumn | undefined {
  const column = Object.hasOwn(table.columns, name) ? table.columns[name] : undefined
  return column && valueTypeOf(column) && toPlanColumn(column)
}
