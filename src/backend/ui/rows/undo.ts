import { call, callWithEtag } from '../api/call.ts'
import { keyOf, type Description, type Row, type TablePlace } from './row-values.ts'

/** The last change of a row, which the page can undo. */
export type RowChange =
  | { readonly kind: 'add'; readonly row: Row }
  | { readonly kind: 'delete'; readonly row: Row }
  | { readonly kind: 'change'; readonly row: Row; readonly before: Row; readonly columns: readonly string[] }

/** Makes the opposite change, if the row is as the change left it. @throws the problem of the server */
export async function undoChange(place: TablePlace, description: Description, change: RowChange): Promise<void> {
  const { row } = change
  const params = { ...place, key: keyOf(description, row) }
  if (change.kind === 'add') {
    await callWithEtag('DELETE /table/:connection/:table/row/:key', { params }, { ifMatch: row.etag })
  } else if (change.kind === 'delete') {
    await call('POST /table/:connection/:table/row', { params: { ...place }, body: valuesOf(description, row) })
  } else {
    const body = valuesOf(description, change.before, change.columns)
    await callWithEtag('PATCH /table/:connection/:table/row/:key', { params, body }, { ifMatch: row.etag })
  }
}

/** The values of a row that can be written. */
function valuesOf({ columns }: Description, { values }: Row, names?: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    columns
      .filter(({ name, fixed }) => !fixed && names?.includes(name) !== false)
      .map(({ name }) => [name, values[name]]),
  )
}
