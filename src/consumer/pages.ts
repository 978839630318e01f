import { Type } from 'typebox'

const usualLimit = 50

/** The query of a list whose cursor is the id that the page before ended with. @param prefix of those ids */
export function pageFields(prefix: string) {
  return {
    // A query is text: a number in it is not coerced.
    limit: Type.Optional(Type.String({ pattern: '^([1-9]\\d?|100)$' })),
    cursor: Type.Optional(Type.String({ pattern: `^${prefix}_\\w{1,64}$` })),
  }
}

export interface PageQuery {
  readonly limit?: string | undefined
  readonly cursor?: string | undefined
}

export interface Page {
  readonly limit: number
  /** What to load: one more than is shown, by which it is known whether there is another page. */
  readonly wanted: { readonly limit: number; readonly after: string | undefined }
}

export function parsePage({ limit: text, cursor }: PageQuery): Page {
  const limit = Number(text ?? usualLimit)
  return { limit, wanted: { limit: limit + 1, after: cursor } }
}

/** The answer: `next` is the cursor of the page behind, where there is one. */
export function writePage<Row extends { readonly id: string }>(rows: readonly Row[], { limit }: Page) {
  const entry = rows.slice(0, limit)
  return { entry, ...(rows.length > limit ? { next: entry.at(-1)!.id } : {}) }
}
