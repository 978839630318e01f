import { Readable } from 'node:stream'
import { maxRowsPerPage } from '../describe-rows.ts'
import type { RowCaller, RowTable } from '../row-table.ts'
import { writeLine } from './csv-values.ts'

/** Writes the rows of a list as a CSV file, page by page. Its first line names the columns. */
export async function exportRows(
  table: RowTable,
  query: Readonly<Record<string, string | readonly string[]>>,
  caller: RowCaller,
): Promise<Readable> {
  const { columns, internal } = table.options
  const names = columns.filter((name) => name !== internal)
  const load = (after: string | null) =>
    table.list({ ...query, limit: String(maxRowsPerPage), ...(after !== null && { after }) }, caller)
  const first = await load(null) // its problems are those of the request
  await table.audit(caller, 'row.export', { columns: names })
  async function* write() {
    yield writeLine(names)
    for (let page = first; ; page = await load(page.next)) {
      yield page.entry.map(({ values }) => writeLine(names.map((name) => values[name]))).join('')
      if (page.next === null) return
      caller.signal.throwIfAborted()
    }
  }
  return Readable.from(write())
}
