import type { Context, DatabaseKind } from 'waypost'
import type { EmbedPlan, TablePlan } from '../plan.ts'
import { makeRowResponse, makeRowWriter, type Row } from '../run.ts'
import { makeCellReader, type Cell } from './embed-cells.ts'
import { embedAlias, readCells } from './embed-statements.ts'

interface RowsUse {
  readonly embeds: readonly EmbedPlan[]
  /** The columns of the result that are not those of the response. */
  readonly extras: readonly string[]
  readonly context: Context
}

/** Makes the response of rows with what is embedded in them. It changes the rows. */
export type RowsResponse = (
  rows: readonly Row[],
  use: RowsUse,
) => {
  /** The JSON of each row, if its JSON columns are texts. */
  readonly texts: readonly string[] | undefined
  /** The column of a value that does not fit its type and is sent as null, if any. */
  readonly unfit: string | undefined
}

export function makeRowsResponse(plan: TablePlan, kind: DatabaseKind): RowsResponse {
  const toResponse = makeRowResponse(plan)
  const toEmbedded = makeEmbedResponse(plan, kind)
  const write = makeEmbeddingWriter(plan)
  return (rows, { embeds, extras, context }) => {
    let unfit: string | undefined
    for (const row of rows) {
      if (embeds.length > 0) unfit = toEmbedded(row, embeds, context) ?? unfit
      unfit = toResponse(row, extras, context) ?? unfit
    }
    return { unfit, texts: write && rows.map((row) => write(row, embeds)) }
  }
}

/** Returns a function that makes the embedded rows of a row. */
function makeEmbedResponse(plan: TablePlan, kind: DatabaseKind) {
  const options = { kind, jsonAsText: plan.jsonAsText === true }
  const embedded = new Map(
    (plan.embeds ?? []).map((embed, index) => [embed, { alias: embedAlias(index), read: makeReader(embed, options) }]),
  )
  return (row: Row, embeds: readonly EmbedPlan[], context: Context): string | undefined => {
    const response = row as Record<string, unknown>
    let unfit: string | undefined
    for (const embed of embeds) {
      const { alias, read } = embedded.get(embed)!
      const text = row[alias] as string | null
      response[alias] = undefined // not serialized
      const readOne = (cells: CellsOf) => {
        const { row: one, unfit: column } = read(cells, context)
        if (column !== undefined) unfit = `${embed.name}.${column}`
        return one
      }
      response[embed.name] = makeEmbedded(embed, text === null ? null : (JSON.parse(text) as never), readOne)
    }
    return unfit
  }
}

type CellsOf = readonly Cell[] | readonly (readonly Cell[])[]

function makeEmbedded(
  { many }: EmbedPlan,
  found: CellsOf | readonly CellsOf[] | null,
  read: (one: CellsOf) => Row,
): unknown {
  if (many === undefined) return found === null ? null : read(found as CellsOf)
  const rows = (found ?? []) as readonly CellsOf[]
  return { entry: rows.slice(0, many.limit).map(read), more: rows.length > many.limit }
}

function makeReader({ name, columns, types }: EmbedPlan, options: Parameters<typeof makeCellReader>[1]) {
  const readers = columns.map((column) => [column, makeCellReader(types[column]!, options)] as const)
  const toResponse = makeRowResponse({ columns, types, table: name })
  return (cells: CellsOf, context: Context): { readonly row: Row; readonly unfit: string | undefined } => {
    const flat = readCells<Cell>(cells)
    const row: Record<string, unknown> = {}
    for (let index = 0; index < readers.length; index++) {
      const [column, read] = readers[index]!
      row[column] = read(flat[index]!)
    }
    return { row, unfit: toResponse(row, [], context) }
  }
}

/** Returns a function that writes rows with JSON columns that are texts; undefined if no column is. */
export function makeEmbeddingWriter(plan: TablePlan): ((row: Row, embeds: readonly EmbedPlan[]) => string) | undefined {
  const write = makeRowWriter(plan)
  if (write === undefined) return undefined
  const jsonAsText = true as const
  const writers = new Map(
    (plan.embeds ?? []).map((embed) => [embed, makeRowWriter({ ...embed, jsonAsText })!] as const),
  )
  return (row, embeds) => {
    const text = write(row)
    if (embeds.length === 0) return text
    const parts = embeds.map(
      (embed) => `${JSON.stringify(embed.name)}:${writeEmbedded(embed, row, writers.get(embed)!)}`,
    )
    return `${text.slice(0, -1)},${parts.join()}}`
  }
}

function writeEmbedded({ name, many }: EmbedPlan, row: Row, write: (row: Row) => string): string {
  if (many === undefined) return row[name] === null ? 'null' : write(row[name] as Row)
  const { entry, more } = row[name] as { readonly entry: readonly Row[]; readonly more: boolean }
  return `{"entry":[${entry.map(write).join()}],"more":${more}}`
}
