import { exchangeFact, loadFacts, type System } from '../store/index.ts'
import { hostErrors, readBaseUrl, listServers } from '../host/index.ts'
import { changeSystem, type ActingHost } from './change-system.ts'
import { errors } from './errors.ts'

/** The consequences of changing the issuer. */
export interface IssuerChange {
  /** Undefined before the first command that signs or serves. */
  readonly from: string | undefined
  readonly to: string
  /** Servers that keep using the old issuer until they are restarted; each name once. */
  readonly servers: readonly string[]
  /** Currently valid access tokens that will be rejected. */
  readonly tokens: number
}

/**
 * Changes the issuer after confirmation. Running servers keep using the old one.
 * @returns the change; undefined if not confirmed
 * @throws WP_SERVER_BASE_URL, WP_SERVER_ISSUER_DEVELOPMENT, WP_SERVER_ISSUER_MOVED
 */
export async function changeHostIssuer(
  host: ActingHost,
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
  const isDone = await changeSystem(host, async (joined, audit) => {
    const isExchanged = await exchangeFact(joined, 'issuer', { from, to })
    if (isExchanged) await audit({ action: 'issuer.change', before: { issuer: from }, after: { issuer: to } })
    return isExchanged
  })
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
