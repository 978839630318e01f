import { extraPrefix, quote, writeFrom } from './statement-values.ts'

/** The parts of a statement that decide which rows a page has. */
interface PageRows {
  readonly table: { readonly table: string; readonly schema?: string }
  /** The columns that the statement reads, quoted. */
  readonly own: readonly string[]
  readonly where: string
  readonly order: string
  readonly limit: string
  /** What rows are sorted by before their order. */
  readonly rank: string | undefined
}

interface From {
  /** What precedes the query. */
  readonly before?: string
  readonly from: string
}

const rankAlias = quote(`${extraPrefix}rank`)
const foundAlias = quote(`${extraPrefix}found`)

/** @param isFirst whether the page is read before anything is added to its rows */
export function writePage({ table, own, where, order, limit, rank }: PageRows, isFirst: boolean): From {
  const first = rank === undefined ? order : `${rank} desc, ${order}`
  const end = `${writeFrom(table)}${where} order by ${first} limit ${limit}`
  if (!isFirst) return { from: end }
  const inner = [...own, ...(rank === undefined ? [] : [`${rank} as ${rankAlias}`])].join(', ')
  const outer = rank === undefined ? order : `${rankAlias} desc, ${order}`
  return { from: `(select ${inner} from ${end}) as ${quote(table.table)} order by ${outer}` }
}

/**
 * For a small page, PostgreSQL would read the table in the order of the list until enough rows match. If only old rows do, it
 * would read nearly all. For so many rows, it only does that for words that are in one of some dozens of rows; it
 * still stops at the end of the page.
 */
const plannedRows = 10_000

/** Writes a page of the rows that match a search, found by its index. */
export function writeFound({ table, own, where, order, limit }: PageRows): From {
  const found = `select ${own.join(', ')} from ${writeFrom(table)}${where} order by ${order} limit ${plannedRows}`
  return {
    before: `with ${foundAlias} as materialized (${found}) `,
    from: `(select * from ${foundAlias} limit ${limit}) as ${quote(table.table)} order by ${order}`,
  }
}
