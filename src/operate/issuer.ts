import { exchangeFact, loadFacts, type System } from '../store/index.ts'
import { hostErrors, readBaseUrl, listServers } from '../host/index.ts'
import { changeSystem, type ActingHost } from './change-system.ts'
import { errors } from './errors.ts'
import {
  beginDeliveries,
  chooseDeliveries,
  finishDeliveries,
  loadWaitingDeliveries,
  type DeliveryChoice,
  type WaitingDeliveries,
} from './events/waiting-deliveries.ts'

/** The consequences of changing the issuer. */
export interface IssuerChange {
  /** Undefined before the first command that signs or serves. */
  readonly from: string | undefined
  readonly to: string
  /** Servers that keep using the old issuer until they are restarted; each name once. */
  readonly servers: readonly string[]
  /** Currently valid access tokens that will be rejected. */
  readonly tokens: number
  /** What would be posted, if this System is a copy of another one a second time. */
  readonly waiting: WaitingDeliveries
  readonly choice: DeliveryChoice
  /** Cancelled deliveries. */
  readonly cancelled: number
}

export interface IssuerChangeOptions {
  readonly url: string
  /** By default they are held, because this System may be a copy. */
  readonly deliveries?: DeliveryChoice | undefined
  confirm(change: IssuerChange): Promise<boolean>
}

/**
 * Changes the issuer after confirmation. Running servers keep using the old one.
 * @returns the change; undefined if not confirmed
 * @throws WP_SERVER_BASE_URL, WP_SERVER_ISSUER_DEVELOPMENT, WP_SERVER_ISSUER_MOVED
 */
export async function changeHostIssuer(
  host: ActingHost,
  { url, deliveries, confirm }: IssuerChangeOptions,
): Promise<IssuerChange | undefined> {
  const { system } = host
  const to = readBaseUrl(url)
  if (to === undefined) throw hostErrors.WP_SERVER_BASE_URL({ url })
  const { issuer: from, origin } = await loadFacts(system)
  if (origin === 'development') throw errors.WP_SERVER_ISSUER_DEVELOPMENT({ target: system.target })
  const names = (await listServers(host)).map(({ name }) => name)
  const isSame = from === to
  const waiting = await loadWaitingDeliveries(system)
  const isUnchanged = isSame && deliveries === undefined
  const unchanged = waiting.heldAt === undefined ? 'send' : 'hold'
  const choice = from === undefined || isUnchanged ? unchanged : chooseDeliveries(waiting, deliveries)
  const change: IssuerChange = {
    waiting,
    choice,
    cancelled: 0,
    from,
    to,
    servers: isSame ? [] : [...new Set(names)],
    tokens: isSame ? 0 : await countTokens(system, host.clock.now()),
  }
  if (isUnchanged) return change
  if (!(await confirm(change))) return undefined
  const isDone = await changeSystem(host, async (joined, audit) => {
    if (!isSame) {
      if (!(await exchangeFact(joined, 'issuer', { from, to }))) return false
      await audit({ action: 'issuer.change', before: { issuer: from }, after: { issuer: to } })
    }
    await beginDeliveries(joined, audit, choice)
    return true
  })
  if (!isDone) throw errors.WP_SERVER_ISSUER_MOVED({ target: system.target })
  return { ...change, cancelled: await finishDeliveries(host, choice) }
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
