import type { Readable } from 'node:stream'
import { Type } from 'typebox'
import { errors } from '../../errors.ts'
import { exportRows } from '../../rows/csv/export-rows.ts'
import { importRows } from '../../rows/csv/import-rows.ts'
import { maxUploadBytes, storeUpload, type Upload } from '../../rows/csv/store-upload.ts'
import { defineRoute } from '../route.ts'
import { maybeText, oneOf, record, text } from '../shapes.ts'
import { callerOf, filterText, readFilter, tableOf, tableParams } from './rows.ts'

// Rows as CSV files.

const scopes = ['backend.data'] as const
const params = record(tableParams)
const count = Type.Integer()
const kind = <const Kind extends string>(one: Kind) => Type.Literal(one)

const exported = defineRoute({
  name: 'exportRows',
  summary: 'All rows that match a filter, as a CSV file',
  method: 'GET',
  path: '/table/:connection/:table/export',
  scopes,
  usesRows: true,
  csv: 'response',
  params,
  query: record({ filter: Type.Optional(filterText) }),
  async handle(call) {
    return exportRows(await tableOf(call), readFilter(call.query.filter), await callerOf(call))
  },
})

const imported = defineRoute({
  name: 'importRows',
  summary: 'Imports a CSV file of at most 100,000 lines: all rows or none. Its first line names the columns',
  method: 'POST',
  path: '/table/:connection/:table/import',
  scopes,
  usesRows: true,
  csv: 'body',
  bodyLimit: maxUploadBytes,
  params,
  query: record({
    /** The columns of a unique key, separated by commas: rows with the same values are changed. */
    upsert: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
    /** `true` leaves out columns that the table does not have. */
    skip_unknown: Type.Optional(Type.Literal('true')),
  }),
  lines: Type.Union([
    record({
      kind: kind('progress'),
      step: oneOf('check', 'import'),
      rows: count,
      of: Type.Union([count, Type.Null()]),
    }),
    record({ kind: kind('problem'), line: count, column: maybeText, message: text }),
    /** Nothing was imported. Without a message, the problems say why. */
    record({ kind: kind('failed'), message: maybeText }),
    record({ kind: kind('done'), rows: count }),
  ]),
  async handle(call) {
    const { upsert, skip_unknown: skips } = call.query
    const table = await tableOf(call)
    const columns = upsert?.split(',') ?? []
    await table.importMethod(columns) // its problems are those of the request
    const body = call.body as Readable | undefined
    const free = call.rows!.reserveImport()
    let upload: Upload | undefined
    const onEnd = async () => upload?.remove().finally(free)
    try {
      if (body === undefined) throw errors.WP_BACKEND_BODY({ reason: 'it is missing; send a CSV file' })
      upload = await storeUpload(body)
      await call.authorizeAgain!()
      const caller = await callerOf(call)
      return importRows(table, upload.file, { upsert: columns, skipsUnknown: skips === 'true', caller, onEnd })
    } catch (error) {
      free()
      await upload?.remove()
      throw error
    }
  },
})

export const rowFileRoutes = [exported, imported] as const
