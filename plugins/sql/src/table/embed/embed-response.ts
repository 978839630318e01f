import type { Context, DatabaseKind } from 'waypost'
import type { EmbedPlan, TablePlan } from '../plan.ts'
import { makeRowResponse, makeRowWriter, type Row } from '../run.ts'
import { makeCellText } from './cell-texts.ts'
import { makeCellReader, type Cell } from './embed-cells.ts'
import { embedAlias, readCells } from './embed-statements.ts'
import { isPlain, replaceUnfit, splitPlainRows } from './plain-rows.ts'

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
  /** The JSON of each row, unless a schema is needed to write it. */
  readonly texts: readonly string[] | undefined
  /** The column of a value that does not fit its type and is sent as null, if any. */
  readonly unfit: string | undefined
}

export function makeRowsResponse(plan: TablePlan, kind: DatabaseKind): RowsResponse {
  const toResponse = makeRowResponse(plan)
  const write = makeRowWriter(plan)
  const withEmbedded = plan.isDeclared ? makeEmbedding(plan, kind) : undefined
  const writeEmbedding = makeEmbeddingWriter(plan, kind)
  return (rows, { embeds, extras, context }) => {
    let unfit: string | undefined
    if (embeds.length > 0 && withEmbedded === undefined) {
      const texts = rows.map((row) => {
        const written = writeEmbedding(row, embeds, context)
        unfit = written.unfit ?? unfit
        return written.text
      })
      return { texts, unfit }
    }
    for (const row of rows) {
      if (embeds.length > 0) unfit = withEmbedded!(row, embeds, context) ?? unfit
      unfit = toResponse(row, extras, context) ?? unfit
    }
    return { unfit, texts: write && rows.map((row) => write(row)) }
  }
}

/** Returns a function that adds the embedded rows to a row. */
function makeEmbedding(plan: TablePlan, kind: DatabaseKind) {
  const embedded = new Map(
    (plan.embeds ?? []).map((embed, index) => [
      embed,
      { alias: embedAlias(index), read: makeReader(embed, { kind, jsonAsText: false }) },
    ]),
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
type Found = CellsOf | readonly CellsOf[] | null

function makeEmbedded({ many }: EmbedPlan, found: Found, read: (one: CellsOf) => Row): unknown {
  if (many === undefined) return found === null ? null : read(found as CellsOf)
  const { rows, more } = cutRows(many, (found ?? []) as readonly CellsOf[])
  return { entry: rows.map(read), more }
}

/** Ends rows at their number, or at the first one that the statement has marked as too much. */
function cutRows({ limit, bytes }: NonNullable<EmbedPlan['many']>, found: readonly CellsOf[]) {
  const marked = bytes === undefined ? -1 : found.findIndex((cells) => readCells<Cell>(cells).at(-1) !== null)
  const end = marked === -1 ? limit : Math.min(marked, limit)
  return { rows: found.slice(0, end), more: found.length > end }
}

type ReaderOptions = Parameters<typeof makeCellReader>[1]

function makeReader({ name, columns, types }: EmbedPlan, options: ReaderOptions) {
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

interface WrittenRow {
  readonly text: string
  readonly unfit: string | undefined
}

/** Returns a function that writes a row with its embedded rows as JSON. */
function makeEmbeddingWriter(plan: TablePlan, kind: DatabaseKind) {
  const toResponse = makeRowResponse(plan)
  // Without a declared response, the columns with JSON are texts, if there are any.
  const write = makeRowWriter({ ...plan, jsonAsText: true })!
  const options = { kind, jsonAsText: plan.jsonAsText === true }
  const writers = new Map(
    (plan.embeds ?? []).map((embed, index) => [
      embed,
      {
        alias: embedAlias(index),
        name: `${JSON.stringify(embed.name)}:`,
        write: isPlain(plan, embed, kind) ? makePlainWriter(embed) : makeCellsWriter(embed, options),
      },
    ]),
  )
  return (row: Row, embeds: readonly EmbedPlan[], context: Context): WrittenRow => {
    let unfit = toResponse(row, [], context)
    const parts = embeds.map((embed) => {
      const { alias, name, write: writeOne } = writers.get(embed)!
      const written = writeOne(row[alias] as string | null, context)
      if (written.unfit !== undefined) unfit = `${embed.name}.${written.unfit}`
      return name + written.text
    })
    const text = write(row)
    return { text: `${text.slice(0, -1)}${text === '{}' ? '' : ','}${parts.join()}}`, unfit }
  }
}

/** Writes the embedded rows of one row from what the statement returned. */
type EmbeddedWriter = (found: string | null, context: Context) => WrittenRow

function makeCellsWriter(embed: EmbedPlan, options: ReaderOptions): EmbeddedWriter {
  const writeOne = makeTextWriter(embed, options)
  return (found, context) => {
    let unfit: string | undefined
    const text = writeEmbedded(embed, found === null ? null : (JSON.parse(found) as never), (cells) => {
      const written = writeOne(cells, context)
      unfit = written.unfit ?? unfit
      return written.text
    })
    return { text, unfit }
  }
}

/** Returns a writer of rows that are JSON already. */
function makePlainWriter({ name, columns, types, many }: EmbedPlan): EmbeddedWriter {
  const toResponse = makeRowResponse({ columns, types, table: name })
  const empty = Object.fromEntries(columns.map((column) => [column, null]))
  return (found, context) => {
    if (found === null) return { text: 'null', unfit: undefined }
    let unfit: string | undefined
    const sent = replaceUnfit(found, (index, value) => {
      unfit = toResponse({ ...empty, [columns[index]!]: value }, [], context) // logs it
    })
    if (many === undefined) return { text: sent, unfit }
    const rows = splitPlainRows(sent)
    const isMore = rows.length > many.limit
    const entry = isMore ? rows.slice(0, many.limit) : rows
    return { text: `{"entry":[${entry.join()}],"more":${isMore}}`, unfit }
  }
}

function writeEmbedded({ many }: EmbedPlan, found: Found, write: (one: CellsOf) => string): string {
  if (many === undefined) return found === null ? 'null' : write(found as CellsOf)
  const { rows, more } = cutRows(many, (found ?? []) as readonly CellsOf[])
  return `{"entry":[${rows.map(write).join()}],"more":${more}}`
}

function makeTextWriter(embed: EmbedPlan, options: ReaderOptions): (cells: CellsOf, context: Context) => WrittenRow {
  const { columns, types } = embed
  const parts = columns.map((column, index) => ({
    prefix: `${index === 0 ? '{' : ','}${JSON.stringify(column)}:`,
    write: makeCellText(types[column]!, options),
  }))
  const read = makeReader(embed, options)
  const writeRow = makeRowWriter({ ...embed, jsonAsText: true })!
  return (cells, context) => {
    const flat = readCells<Cell>(cells)
    let text = ''
    for (let index = 0; index < parts.length; index++) {
      const { prefix, write } = parts[index]!
      const written = write(flat[index]!)
      if (written === undefined) {
        const { row, unfit } = read(cells, context) // logs the value that does not fit
        return { text: writeRow(row), unfit }
      }
      text += prefix + written
    }
    return { text: `${text}}`, unfit: undefined }
  }
}
