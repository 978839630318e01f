import type { EntityName, FilterQuery, InferEntity, QueryOrderMap } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/sql'
import type { listedEntities } from './entities.ts'
import type { System } from './system.ts'

type ListedTables = { [Name in keyof typeof listedEntities]: InferEntity<(typeof listedEntities)[Name]> }

/** Selects the rows whose `key` is in a column of another table's rows. */
type Membership<Row> = {
  [Name in keyof ListedTables]: {
    readonly key: keyof Row & string
    readonly in: Name
    readonly column: keyof ListedTables[Name] & string
    readonly where: FilterQuery<ListedTables[Name]>
  }
}[keyof ListedTables]

export interface RowQuery<Row> {
  readonly where?: FilterQuery<Row>
  readonly members?: readonly Membership<Row>[]
  readonly orderBy?: QueryOrderMap<Row>
  /** All rows by default. */
  readonly limit?: number
  /** How many rows to skip; none by default. */
  readonly offset?: number
}

/**
 * Lists rows of Waypost's own tables for administration: filtered, sorted and paged. Uses the repositories of MikroORM,
 * which is loaded on the first call. Hot paths, joins and counts use Kysely.
 */
export async function listRows<Name extends keyof ListedTables>(
  system: System,
  table: Name,
  { where, members = [], ...page }: RowQuery<ListedTables[Name]>,
): Promise<readonly ListedTables[Name][]> {
  const { entities, manager } = await openLists(system)
  const membership = members.map(({ key, in: other, column, where: condition }) => {
    const query = manager.createQueryBuilder<object>(entities[other]).select(column as never)
    return { [key]: { $in: query.where(condition as never).getNativeQuery() } }
  })
  const conditions = [...(where === undefined ? [] : [where]), ...membership]
  const rows = await manager.getRepository<object>(entities[table]).find({ $and: conditions }, page)
  return rows as unknown as readonly ListedTables[Name][]
}

type Tables = Readonly<Record<keyof ListedTables, EntityName<object>>>

const managers = new WeakMap<System, Promise<EntityManager>>()

/** One manager for each System. It shares the connections of System, which closes them. */
async function openLists(system: System) {
  const [{ openOrm }, { listedEntities: entities }] = await Promise.all([import('./orm.ts'), import('./entities.ts')])
  const opening = managers.get(system) ?? openOrm(system).then(({ em }) => em as EntityManager)
  managers.set(system, opening)
  // A type for any of the entities, which MikroORM's types do not provide.
  return { entities: entities as unknown as Tables, manager: (await opening).fork() }
}
