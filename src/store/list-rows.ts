import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { EntityName, FilterQuery, InferEntity, QueryOrderMap } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/sql'
import type { listedEntities } from './entities.ts'
import { errors } from './errors.ts'
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

/** Columns and directions. The last column is unique, and an index has these columns in this order. */
export type Sort<Column extends string = string> = readonly (readonly [column: Column, direction: 'asc' | 'desc'])[]

export interface Page<Entry> {
  readonly entry: readonly Entry[]
  /** The cursor of the next page; undefined on the last. */
  readonly next: string | undefined
}

/** Selects one page of a sorted list. */
export interface PageRequest<Column extends string = string> {
  readonly sort: Sort<Column>
  /** `next` of the previous page. */
  readonly cursor?: string | undefined
  readonly limit: number
}

/**
 * Lists one page of rows like `listRows`. The cursor contains the last row's values of the sorted columns, so that the
 * database reads any page from the index without the rows before it.
 * @throws WP_STORE_CURSOR
 */
export async function listPage<Name extends keyof ListedTables>(
  system: System,
  table: Name,
  {
    where,
    members,
    ...page
  }: PageRequest<keyof ListedTables[Name] & string> & Pick<RowQuery<ListedTables[Name]>, 'where' | 'members'>,
): Promise<Page<ListedTables[Name]>> {
  const conditions = [...(where === undefined ? [] : [where]), ...conditionsAfter(page)]
  const rows = await listRows(system, table, {
    where: { $and: conditions } as FilterQuery<ListedTables[Name]>,
    ...(members === undefined ? {} : { members }),
    orderBy: Object.fromEntries(page.sort) as QueryOrderMap<ListedTables[Name]>,
    limit: page.limit + 1,
  })
  return makePage(rows, page)
}

/**
 * `a <= 1 and (a < 1 or b < 2)` instead of `a < 1 or (a = 1 and b < 2)`, because the database finds the beginning in the
 * index only with the former.
 */
function conditionsAfter({ sort, cursor }: Pick<PageRequest, 'sort' | 'cursor'>): readonly object[] {
  const values = parseCursor(sort, cursor)
  if (values === undefined) return []
  const at = (index: number, orEqual: boolean) => {
    const [column, direction] = sort[index]!
    return { [column]: { [`${direction === 'asc' ? '$gt' : '$lt'}${orEqual ? 'e' : ''}`]: values[index] } }
  }
  if (sort.length === 1) return [at(0, false)]
  return [at(0, true), { $or: [at(0, false), at(1, false)] }]
}

type SortValue = string | number

/** Returns the values of the sorted columns. @throws WP_STORE_CURSOR */
function parseCursor(sort: Sort, cursor: string | undefined): readonly SortValue[] | undefined {
  if (cursor === undefined) return undefined
  try {
    const [order, ...values] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    const isSame = order === nameSort(sort) && values.length === sort.length
    if (isSame && values.every((value) => typeof value === 'string' || Number.isSafeInteger(value))) {
      return values as SortValue[]
    }
  } catch {
    // reported below
  }
  throw errors.WP_STORE_CURSOR()
}

/**
 * The condition of a page for Kysely.
 * @param page with the table of the columns if the query joins several
 * @throws WP_STORE_CURSOR
 */
export function whereAfter({
  sort,
  cursor,
  table,
}: Pick<PageRequest, 'sort' | 'cursor'> & { readonly table?: string }): RawBuilder<SqlBool> {
  const values = parseCursor(sort, cursor)
  if (values === undefined) return sql`true`
  const at = (index: number, orEqual: boolean) => {
    const [column, direction] = sort[index]!
    const name = table === undefined ? column : `${table}.${column}`
    return sql`${sql.ref(name)} ${sql.raw(`${direction === 'asc' ? '>' : '<'}${orEqual ? '=' : ''}`)} ${values[index]}`
  }
  if (sort.length === 1) return sql`${at(0, false)}`
  return sql`(${at(0, true)} and (${at(0, false)} or ${at(1, false)}))`
}

/** Makes a page of rows that were loaded with a limit one higher than that of the page. */
export function makePage<Row extends object>(
  rows: readonly Row[],
  { sort, limit }: Pick<PageRequest, 'sort' | 'limit'>,
): Page<Row> {
  const entry = rows.slice(0, limit)
  const last = entry.at(-1) as Readonly<Record<string, SortValue>> | undefined
  if (rows.length <= limit || last === undefined) return { entry, next: undefined }
  return { entry, next: makeCursor(sort, last) }
}

/** Makes the cursor of the page after a row. */
export function makeCursor(sort: Sort, last: Readonly<Record<string, unknown>>): string {
  const values = [nameSort(sort), ...sort.map(([column]) => last[column])]
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/** Whether a cursor was made for this order. */
export function isCursorOf(sort: Sort, cursor: string): boolean {
  return Buffer.from(cursor, 'base64url')
    .toString()
    .startsWith(`[${JSON.stringify(nameSort(sort))},`)
}

function nameSort(sort: Sort): string {
  return sort.map((part) => part.join(' ')).join()
}

type Tables = Readonly<Record<keyof ListedTables, EntityName<object>>>

const managers = new WeakMap<System, Promise<EntityManager>>()

/** One manager for each System. It shares the connections of System, which closes them. */
async function openLists(system: System) {
  const loading = [import('./connect-orm.ts'), import('./entities.ts')] as const
  const [{ connectOrm }, { listedEntities: entities }] = await Promise.all(loading)
  const connect = () => connectOrm(system, { entities: Object.values(entities) }).then(({ em }) => em as EntityManager)
  const opening = managers.get(system) ?? connect()
  managers.set(system, opening)
  // A type for any of the entities, which MikroORM's types do not provide.
  return { entities: entities as unknown as Tables, manager: (await opening).fork() }
}
