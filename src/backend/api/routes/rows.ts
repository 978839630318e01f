import { Type, type Static } from 'typebox'
import type { ColumnSnapshot } from '../../../contract/index.ts'
import { errors } from '../../rows/errors.ts'
import type { RowCaller, RowTable, TaggedRow } from '../../rows/row-table.ts'
import { findReferring } from '../../rows/find-referring.ts'
import { ChangedRecord, defineRoute, type AdminCall } from '../route.ts'
import { maybeText, record, text } from '../shapes.ts'

// The rows of the project's tables. Only those with the scope backend.data may see them.

const scopes = ['backend.data'] as const
const name = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000]*$' })
export const tableParams = { connection: name, table: name }
const params = record(tableParams)
const rowParams = record({ ...tableParams, key: Type.String({ description: 'A JSON array: the values of the key' }) })
const texts = Type.Array(text)
const flag = Type.Boolean()
const maybeNumber = Type.Union([Type.Number(), Type.Null()])
/** By column. The text of a JSON column is its JSON, because a browser would round numbers. */
const values = Type.Record(text, Type.Unknown())
const row = record({ etag: text, values })
const fields = { WP_BACKEND_ROW_JSON: 'body', WP_BACKEND_ROW_KEY: 'params/key' } as const

export const filterText = Type.String({
  maxLength: 8000,
  description: 'The query of a list of sql-table: status=open&price.gt=5&sort=-price',
})

const column = record({
  name: text,
  type: text,
  as: maybeText,
  length: maybeNumber,
  /** The values of an enum. */
  values: Type.Union([texts, Type.Null()]),
  null: flag,
  default: flag,
  /** The database computes it, or it is where the database stores the row. */
  fixed: flag,
  sortable: flag,
  /** The operators by which the list can be filtered. */
  operators: texts,
})

const reference = record({ columns: texts, table: text, to: texts })

const describe = defineRoute({
  name: 'describeRows',
  summary: 'How the rows of a table are shown: its columns, its key, what refers to it, and what can be changed',
  method: 'GET',
  path: '/table/:connection/:table',
  scopes,
  usesRows: true,
  params,
  response: record({
    columns: Type.Array(column),
    /** The columns that are not shown, with the reason. */
    hidden: Type.Array(record({ name: text, reason: text })),
    /** The columns in which `q` finds words. */
    search: texts,
    key: texts,
    /** The column by which the database itself identifies rows of a table without a key. */
    internal: maybeText,
    unique: Type.Array(texts),
    references: Type.Array(reference),
    /** The references of other tables to this one. */
    referring: Type.Array(record({ ...reference.properties, on_delete: maybeText })),
    /** Why rows cannot be added, changed or deleted; null if they can. */
    fixed: record({ insert: maybeText, change: maybeText, delete: maybeText }),
  }),
  async handle(call) {
    const { connection, table: own } = call.params
    const rows = call.rows!
    const table = await rows.table(connection, own)
    return { ...formatTable(table), referring: findReferring(await rows.tablesOf(connection), own) }
  },
})

const list = defineRoute({
  name: 'listRows',
  summary: 'A page of the rows of a table',
  method: 'GET',
  path: '/table/:connection/:table/row',
  scopes,
  usesRows: true,
  params,
  query: record({
    filter: Type.Optional(filterText),
    cursor: Type.Optional(Type.String({ maxLength: 100_000 })),
    limit: Type.Optional(Type.String({ pattern: '^([1-9]\\d?|1\\d\\d|200)$' })),
  }),
  response: record({ entry: Type.Array(row), next: maybeText }),
  async handle(call) {
    const { filter, cursor, limit } = call.query
    const table = await tableOf(call)
    const query = { ...readFilter(filter), ...(cursor && { after: cursor }), ...(limit && { limit }) }
    const { entry, next } = await table.list(query, await callerOf(call))
    return { entry, next }
  },
})

const count = defineRoute({
  name: 'countRows',
  summary: 'The number of rows that match a filter. Reads all of them, so it can take a long time',
  method: 'GET',
  path: '/table/:connection/:table/count',
  scopes,
  usesRows: true,
  params,
  query: record({ filter: Type.Optional(filterText) }),
  response: record({ count: Type.Number() }),
  async handle(call) {
    const { sort: _, ...query } = readFilter(call.query.filter)
    const page = await (await tableOf(call)).list({ ...query, limit: '1', count: 'true' }, await callerOf(call))
    return { count: page.count! }
  },
})

const add = defineRoute({
  name: 'addRow',
  summary: 'Adds a row. Columns without a value get their default',
  method: 'POST',
  path: '/table/:connection/:table/row',
  scopes,
  usesRows: true,
  params,
  body: values,
  fields,
  status: 201,
  response: row,
  async handle(call) {
    return formatRow(await (await tableOf(call)).insert(call.body, await callerOf(call)))
  },
})

const change = defineRoute({
  name: 'changeRow',
  summary: 'Changes columns of a row if its ETag matches If-Match',
  method: 'PATCH',
  path: '/table/:connection/:table/row/:key',
  scopes,
  usesRows: true,
  hasIfMatch: true,
  params: rowParams,
  body: values,
  fields,
  response: row,
  async handle(call) {
    const table = await tableOf(call)
    return formatRow(await table.change(readSelection(call, table), call.body, await callerOf(call)))
  },
})

const remove = defineRoute({
  name: 'deleteRow',
  summary: 'Deletes a row if its ETag matches If-Match',
  method: 'DELETE',
  path: '/table/:connection/:table/row/:key',
  scopes,
  usesRows: true,
  hasIfMatch: true,
  params: rowParams,
  fields,
  async handle(call) {
    const table = await tableOf(call)
    await table.delete(readSelection(call, table), await callerOf(call))
  },
})

type TableCall = AdminCall & { readonly params: { readonly connection: string; readonly table: string } }

export function tableOf({ rows, params: { connection, table } }: TableCall): Promise<RowTable> {
  return rows!.table(connection, table)
}

export async function callerOf({ principal, log, openSignal, actor }: AdminCall): Promise<RowCaller> {
  return { principal, log, signal: openSignal(), actor: await actor() }
}

/** Reads the filters and the order of a list. */
export function readFilter(filter = ''): Readonly<Record<string, string | readonly string[]>> {
  const parameters = new URLSearchParams(filter)
  const {
    limit: _limit,
    after: _after,
    count: _count,
    ...query
  } = Object.fromEntries(
    [...new Set(parameters.keys())].map((key): [string, string | string[]] => {
      const all = parameters.getAll(key)
      return [key, all.length === 1 ? all[0]! : all]
    }),
  )
  return query
}

/** @throws WP_BACKEND_ROW_CONDITION, WP_BACKEND_ROW_KEY */
function readSelection({ condition, params: { key } }: AdminCall & { params: Static<typeof rowParams> }, of: RowTable) {
  if (typeof condition !== 'string') throw errors.WP_BACKEND_ROW_CONDITION()
  return {
    key: readKey(key, of),
    check(current: TaggedRow) {
      const tags = new Set(condition.split(',').map((one) => one.trim()))
      if (!tags.has(current.etag) && !tags.has('*')) throw new ChangedRecord(current, current.etag)
    },
  }
}

function readKey(text: string, { options }: RowTable): readonly string[] {
  try {
    const given: unknown = JSON.parse(text)
    if (Array.isArray(given)) return given.map(String)
  } catch {
    // Explained below.
  }
  throw errors.WP_BACKEND_ROW_KEY({ table: options.name, key: options.key.join(', ') })
}

function formatRow({ etag, values: of }: TaggedRow): Static<typeof row> {
  return { etag, values: of }
}

function formatTable({ options }: RowTable) {
  const { table, columns, hidden, key, internal, methods, filters, sortable, search } = options
  const reasonOf = (operation: 'insert' | 'change' | 'delete') => {
    const method = methods[operation]
    return 'problem' in method ? method.problem : null
  }
  return {
    columns: columns.map((one) => ({
      ...formatColumn(one, table.columns[one]!),
      fixed: !options.writable.includes(one),
      sortable: sortable.includes(one),
      operators: [...(filters[one] ?? [])],
    })),
    hidden: [...hidden],
    search: [...search],
    key: [...key],
    internal: internal ?? null,
    unique: [...(table.key === undefined ? [] : [table.key]), ...(table.unique ?? [])].map((names) => [...names]),
    references: (table.references ?? []).map(({ columns: from, table: parent, to }) => {
      return { columns: [...from], table: parent, to: [...to] }
    }),
    fixed: { insert: reasonOf('insert'), change: reasonOf('change'), delete: reasonOf('delete') },
  }
}

function formatColumn(own: string, column: ColumnSnapshot) {
  const { values: allowed } = column as { readonly values?: readonly string[] }
  return {
    name: own,
    type: column.type,
    as: column.as ?? null,
    length: column.length ?? null,
    values: allowed === undefined ? null : [...allowed],
    null: column.null ?? false,
    default: column.default ?? false,
  }
}

export const rowRoutes = [describe, list, count, add, change, remove] as const
