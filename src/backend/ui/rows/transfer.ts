import type { Operations } from '../../api/operations.ts'
import { sendForResponse } from '../api/send.ts'
import { saveFile } from '../components/save-file.ts'
import type { TablePlace } from './row-values.ts'

/** What the server tells during an import. */
export type ImportLine = Operations['POST /table/:connection/:table/import']['lines']
export type ImportProblem = Extract<ImportLine, { readonly kind: 'problem' }>

function pathOf({ connection, table }: TablePlace, what: string): string {
  return `table/${encodeURIComponent(connection)}/${encodeURIComponent(table)}/${what}`
}

/** Downloads the rows that a query finds. */
export async function exportFile(place: TablePlace, filter: string | undefined): Promise<void> {
  const response = await sendForResponse('GET', pathOf(place, 'export'), { query: { filter } })
  saveFile(await response.blob(), `${place.table}.csv`)
}

export interface ImportRequest {
  readonly file: File
  /** The columns of a unique key: rows with the same values are changed. */
  readonly upsert: readonly string[]
  readonly skipsUnknown: boolean
}

/** Sends a file and passes on what the server tells, until the import has ended. */
export async function importFile(
  place: TablePlace,
  { file, upsert, skipsUnknown }: ImportRequest,
  { signal, onLine }: { readonly signal: AbortSignal; onLine(line: ImportLine): void },
): Promise<void> {
  const query = { upsert: upsert.join(','), skip_unknown: skipsUnknown ? 'true' : undefined }
  const response = await sendForResponse('POST', pathOf(place, 'import'), { query, file, signal })
  let rest = ''
  const decoder = new TextDecoder()
  const reader = response.body!.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + decoder.decode(part.value, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') onLine(JSON.parse(line) as ImportLine)
  }
}
