import { Type } from 'typebox'

const defaultLimit = 50

/** The query of a list in pages. @param cursor the pattern of its cursors */
export function pageFields(cursor: string) {
  return {
    // A query is text: a number in it is not coerced.
    limit: Type.Optional(Type.String({ pattern: '^([1-9]\\d?|100)$' })),
    cursor: Type.Optional(Type.String({ pattern: cursor })),
  }
}

/** The pattern of a cursor that is the id of the last entry. @param prefix of those ids */
export function idCursor(prefix: string): string {
  return `^${prefix}_\\w{1,64}$`
}

export interface PageQuery {
  readonly limit?: string | undefined
  readonly cursor?: string | undefined
}

export interface Page {
  readonly limit: number
  /** What to load: one more than the page shows, which tells whether there is another page. */
  readonly wanted: { readonly limit: number; readonly after: string | undefined }
}

export function parsePage({ limit: text, cursor }: PageQuery): Page {
  const limit = Number(text ?? defaultLimit)
  return { limit, wanted: { limit: limit + 1, after: cursor } }
}

/** The response: `next` is the cursor of the next page, if there is one. @param cursorOf the id by default */
export function writePage<Row extends { readonly id: string }>(
  rows: readonly Row[],
  { limit }: Page,
  cursorOf: (last: Row) => string = ({ id }) => id,
) {
  const entry = rows.slice(0, limit)
  return { entry, ...(rows.length > limit ? { next: cursorOf(entry.at(-1)!) } : {}) }
}
