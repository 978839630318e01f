import { exchangeFact, loadFacts, type System } from '../store/index.ts'
import { hostErrors, type Host, readBaseUrl, listServers } from '../host/index.ts'
import { errors } from './errors.ts'

/** What another issuer means. */
export interface IssuerChange {
  /** Undefined where no command has signed or served yet. */
  readonly from: string | undefined
  readonly to: string
  /** Servers that go on as the one before until they are started again; each name once. */
  readonly servers: readonly string[]
  /** Access tokens that count now and are refused then. */
  readonly tokens: number
}

/**
 * Stores another issuer once somebody has seen what it means. Servers that run go on with the one before.
 * @returns what was done; undefined when nobody wanted it
 * @throws WP_SERVER_BASE_URL, WP_SERVER_ISSUER_DEVELOPMENT, WP_SERVER_ISSUER_MOVED
 */
export async function changeHostIssuer(
  host: Host,
  { url, confirm }: { url: string; confirm(change: IssuerChange): Promise<boolean> },
): Promise<IssuerChange | undefined> {
  const { system } = host
  const to = readBaseUrl(url)
  if (to === undefined) throw hostErrors.WP_SERVER_BASE_URL({ url })
  const { issuer: from, origin } = await loadFacts(system)
  if (origin === 'development') throw errors.WP_SERVER_ISSUER_DEVELOPMENT({ target: system.target })
  const names = (await listServers(host)).map(({ name }) => name)
  const isSame = from === to
  const change: IssuerChange = {
    from,
    to,
    servers: isSame ? [] : [...new Set(names)],
    tokens: isSame ? 0 : await countTokens(system, host.clock.now()),
  }
  if (isSame) return change
  if (!(await confirm(change))) return undefined
  const isDone = await exchangeFact(system, 'issuer', { from, to })
  if (!isDone) throw errors.WP_SERVER_ISSUER_MOVED({ target: system.target })
  return change
}

async function countTokens({ db }: System, now: number): Promise<number> {
  const { count } = await db
    .selectFrom('waypost_token')
    .select((column) => column.fn.countAll<number>().as('count'))
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return count
}
