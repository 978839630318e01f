import { sql } from 'kysely'

/** How much of a body is shown. */
const maxBody = 65_536

/** The first characters of the data of `waypost_message`: one more than are shown. */
export const firstOfBody = sql<string>`substr(data, 1, ${sql.lit(maxBody + 1)})`

/** @param first the value of `firstOfBody` */
export function cutBody(first: string): { readonly body: string; readonly isTruncated: boolean } {
  return { body: first.slice(0, maxBody).toWellFormed(), isTruncated: first.length > maxBody }
}
