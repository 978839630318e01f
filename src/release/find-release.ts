import { shortId } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import { errors } from './errors.ts'

const mostNamed = 5

/** The id of the one release whose id begins so. @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS */
export async function findRelease({ db }: Pick<System, 'db'>, beginning: string): Promise<string> {
  const wanted = beginning.toLowerCase()
  if (!/^[\da-f]{1,64}$/.test(wanted)) throw errors.WP_RELEASE_UNKNOWN({ id: beginning.slice(0, 64) })
  const rows = await db
    .selectFrom('waypost_release')
    .select('id')
    .where('id', '>=', wanted)
    .where('id', '<=', wanted.padEnd(64, 'f'))
    .orderBy('id')
    .execute()
  const [first, ...others] = rows
  if (first === undefined) throw errors.WP_RELEASE_UNKNOWN({ id: beginning })
  if (others.length === 0) return first.id
  const names = rows.slice(0, mostNamed).map(({ id }) => distinct(id, rows))
  const more = rows.length > mostNamed ? ', …' : ''
  throw errors.WP_RELEASE_AMBIGUOUS({ id: beginning, count: rows.length, ids: `${names.join(', ')}${more}` })
}

/** As much of an id as tells it from all the others, and at least what is shown elsewhere. */
function distinct(id: string, rows: readonly { readonly id: string }[]): string {
  const others = rows.filter((row) => row.id !== id)
  let length = shortId(id).length
  while (others.some((other) => other.id.startsWith(id.slice(0, length)))) length += 1
  return id.slice(0, length)
}
