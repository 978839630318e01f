import { Type, type TProperties, type TSchema } from 'typebox'
import { formatTime, isWaypostError, parseSince, type Since } from '../../kit/index.ts'
import type { Page } from '../../store/index.ts'
import { errors } from '../errors.ts'

// Parts of the schemas of several routes.

/** An object without other properties. */
export function record<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false })
}

export const text = Type.String()
/** RFC 3339, in UTC. */
export const time = Type.String({ format: 'date-time' })

export const maybeText = Type.Union([text, Type.Null()])

/** A text to filter by. PostgreSQL rejects NUL characters. */
export const filterText = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000]*$' })

const defaultLimit = 50

/** The query of a list: filters, the order, and which page. */
export function listQuery<Filters extends TProperties, const Sorts extends readonly [string, ...string[]]>(
  filters: Filters,
  ...sorts: Sorts
) {
  return record({
    ...filters,
    sort: Type.Optional(Type.Unsafe<Sorts[number]>(Type.Enum([...sorts]))),
    cursor: Type.Optional(Type.String({ maxLength: 2000 })),
    limit: Type.Optional(
      Type.String({ pattern: '^([1-9]\\d?|1\\d\\d|200)$', description: 'At most 200; 50 by default' }),
    ),
  })
}

/** One page of a list. `next` is the cursor of the next page. */
export function pageOf<Entry extends TSchema>(entry: Entry) {
  return record({ entry: Type.Array(entry), next: maybeText })
}

export function readLimit({ limit }: { readonly limit?: string | undefined }): number {
  return limit === undefined ? defaultLimit : Number(limit)
}

/** The query of a list whose order depends on its filters. */
export function filterQuery<Filters extends TProperties>(filters: Filters) {
  const { cursor, limit } = listQuery({}, 'none').properties
  return record({ ...filters, cursor, limit })
}

/** One of several texts. */
export function oneOf<const Texts extends readonly [string, ...string[]]>(...texts: Texts) {
  return Type.Unsafe<Texts[number]>(Type.Enum([...texts]))
}

export const maybeTime = Type.Union([time, Type.Null()])

export function formatMaybeTime(ms: number | undefined): string | null {
  return ms === undefined ? null : formatTime(ms)
}

/** A duration before now, such as `24h`, or an ISO time. */
export const since = Type.String({ maxLength: 64 })

/** Reads `since`. @throws WP_BACKEND_SINCE */
export function readSince({ since: given }: { readonly since?: string | undefined }): Since | undefined {
  if (given === undefined) return undefined
  const parsed = parseSince(given)
  if (parsed === undefined) throw errors.WP_BACKEND_SINCE({ since: given })
  return parsed
}

/** Lists nothing if a filter names an unknown user or client, as filters by other texts do. */
export async function listMatching<Row>(list: Promise<Page<Row>>): Promise<Page<Row>> {
  try {
    return await list
  } catch (error) {
    if (isWaypostError(error) && unknownNames.has(error.code)) return { entry: [], next: undefined }
    throw error
  }
}

const unknownNames = new Set(['WP_AUTH_USER_UNKNOWN', 'WP_AUTH_CLIENT_NO_MATCH'])
