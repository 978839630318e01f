import type { TableSnapshot, TablesSnapshot } from '../../contract/index.ts'
import type { Definition } from '../../definition/index.ts'
import { isReference } from './table-config.ts'

/** A reference of a table to rows that have an owner. */
export interface ParentTable {
  readonly column: string
  readonly table: string
  /** A method that serves its rows with their owner, for example `GET /order`. */
  readonly method: string
  /** Why rows cannot belong to the owner of the row that they refer to; undefined if they can. */
  readonly problem: string | undefined
}

type Parents = readonly [table: string, owners: ReadonlyMap<string, unknown>]

interface TablePlace {
  readonly connection: string
  readonly table: string
  readonly snapshot: TablesSnapshot
}

/** Lists the references of a table to tables that actions of the definition serve with an owner. */
export function listParents(
  definition: Definition,
  { connection, table: name, snapshot }: TablePlace,
): readonly ParentTable[] {
  const table = snapshot.tables[name]!
  const owners = new Map(findOwners(definition, connection))
  const isFar = (parent: string) => countSteps(parent, { owners, snapshot }) >= maxOwnerSteps
  return (table.references ?? []).flatMap(({ columns, table: parent, on_delete: onDelete }) => {
    const [column = ''] = columns
    const known = parent === name ? undefined : owners.get(parent)
    if (known === undefined || columns.length > 1 || !isReference(column, table)) return []
    const [method = ''] = known.keys()
    return [{ column, table: parent, method, problem: findProblem(known, { parent, column, table, onDelete, isFar }) }]
  })
}

/** The owners that methods have for their table, by table. */
function findOwners({ routes }: Definition, connection: string): readonly Parents[] {
  const found = routes.flatMap(({ path, methods }) =>
    methods.flatMap(({ action, method }) => {
      if (!('class' in action) || action.class !== 'sql-table') return []
      const { connection: own = 'System', table, owner } = action.config
      const isOwned = own === connection && typeof table === 'string' && owner !== undefined
      return isOwned ? [{ table, owner, name: `${method} ${path}` }] : []
    }),
  )
  return [...Map.groupBy(found, ({ table }) => table)].map(([table, all]) => [
    table,
    new Map(all.map(({ name, owner }) => [name, owner])),
  ])
}

interface ReferencePlace {
  readonly parent: string
  readonly column: string
  readonly table: TableSnapshot
  readonly onDelete: string | undefined
  /** Whether too many references lead from the parent to its owner. */
  isFar(parent: string): boolean
}

/** As in the class `sql-table`. */
const maxOwnerSteps = 3

interface Chain {
  readonly owners: ReadonlyMap<string, Parents[1]>
  readonly snapshot: TablesSnapshot
}

/** Counts the references from the rows of a table to those with the owner, as far as they matter. */
function countSteps(table: string, { owners, snapshot }: Chain, counted = 0): number {
  const [owner] = owners.get(table)?.values() ?? []
  if (counted >= maxOwnerSteps || typeof owner !== 'object' || owner === null || !('through' in owner)) return counted
  const { through } = owner
  const { references = [] } = snapshot.tables[table] ?? {}
  const next = references.find(({ columns }) => columns.length === 1 && columns[0] === through)
  return next === undefined ? counted + 1 : countSteps(next.table, { owners, snapshot }, counted + 1)
}

function findProblem(
  owners: ReadonlyMap<string, unknown>,
  { parent, column, table, onDelete, isFar }: ReferencePlace,
): string | undefined {
  const texts = new Set([...owners.values()].map((owner) => JSON.stringify(owner)))
  if (texts.size > 1) return `"${parent}" has several owner rules`
  if (isFar(parent)) return `The owner of "${parent}" is ${maxOwnerSteps} references away, but the limit is lower`
  if (table.columns[column]!.null || onDelete === 'set null')
    return `Rows without "${column}" would have no owner, because the column may be null`
  return undefined
}
