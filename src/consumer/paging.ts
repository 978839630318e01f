import { Type, type TSchema } from 'typebox'
import { record, text } from './route.ts'

const defaultLimit = 50

/** The query fields of a paged list. @param cursor the pattern of its cursors */
export function pageFields(cursor: string) {
  return {
    // Queries are text; numbers are not coerced.
    limit: Type.Optional(Type.String({ pattern: '^([1-9]\\d?|100)$' })),
    cursor: Type.Optional(Type.String({ pattern: cursor })),
  }
}

/** One page of a list. `next` is the cursor of the next page, if there is one. */
export function pageOf<Entry extends TSchema>(entry: Entry) {
  return record({ entry: Type.Array(entry), next: Type.Optional(text) })
}

/** The pattern of a cursor that is the id of the last entry. @param prefix of the ids */
export function idCursor(prefix: string): string {
  return `^${prefix}_\\w{1,64}$`
}

export interface PageQuery {
  readonly limit?: string | undefined
  readonly cursor?: string | undefined
}

export interface Page {
  readonly limit: number
  /** The range to load: one more than the page shows, to detect whether there is another page. */
  readonly wanted: { readonly limit: number; readonly after: string | undefined }
}

export function parsePage({ limit: text, cursor }: PageQuery): Page {
  const limit = Number(text ?? defaultLimit)
  return { limit, wanted: { limit: limit + 1, after: cursor } }
}

/** How many bytes of JSON a page has at most, unless its first row alone has more. */
const maxPageBytes = 1024 * 1024

/** Ends a page before it has too many bytes: 100 deliveries may have 4 MB of responses, and as JSON six times as much. */
export function limitPage(rows: readonly unknown[], page: Page): Page {
  let bytes = 0
  const end = rows.slice(0, page.limit).findIndex((row, index) => {
    bytes += JSON.stringify(row).length
    return index > 0 && bytes > maxPageBytes
  })
  return end === -1 ? page : { ...page, limit: end }
}

/**
 * Makes the response. `next` is the cursor of the next page, if there is one.
 * @param cursorOf returns the cursor of a row; its id by default
 */
export function writePage<Row extends { readonly id: string }>(
  rows: readonly Row[],
  { limit }: Page,
  cursorOf: (last: Row) => string = ({ id }) => id,
) {
  const entry = rows.slice(0, limit)
  return { entry, ...(rows.length > limit ? { next: cursorOf(entry.at(-1)!) } : {}) }
}
