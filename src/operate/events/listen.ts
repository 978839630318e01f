import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { chooseUser, loadUserScopes, loginClientId } from '../../auth/index.ts'
import {
  findSignatureProblem,
  makeSubscriptions,
  type OwnSubscription,
  type Subscriber,
  type Subscriptions,
} from '../../events/index.ts'
import { isWaypostError } from '../../kit/index.ts'
import { openOutbound } from '../../outbound/index.ts'
import type { System } from '../../store/index.ts'
import { loadTerms, type Host, openIdentity } from '../../host/index.ts'
import { errors } from '../errors.ts'
import { isReceiver, isReceiving, openReceiver, type ReceivedPost } from './open-receiver.ts'

export interface ListenRequest {
  readonly event: string
  /** As whom; the first user of `dev` by default. */
  readonly user?: string | undefined
  /** 0 takes any that is free. */
  readonly port: number
  /** The HTTP status that every delivery is answered with. */
  readonly answer: number
  onDelivery(delivery: HeardDelivery): void
}

/** A delivery that arrived here. */
export interface HeardDelivery {
  readonly id: string
  readonly event: string
  readonly body: string
  /** What is wrong with its signature; undefined when it is right. */
  readonly problem: string | undefined
}

export interface Listening {
  readonly endpoint: string
  /** Name of the user who is subscribed. */
  readonly user: string
  /** Ends the subscription, and what waits for it. */
  close(): Promise<void>
}

/**
 * Subscribes a receiver on this machine to an event, on a development System. Subscriptions of others like it that were
 * killed are removed first.
 * @throws WP_SERVER_LISTEN_DEVELOPMENT, WP_SERVER_LISTEN_PORT, WP_EVENTS_UNKNOWN, WP_EVENTS_SCOPE
 */
export async function listenToEvent(host: Host, request: ListenRequest): Promise<Listening> {
  const { system, clock } = host
  const { secrets, isDevelopment } = await openIdentity(host)
  if (!isDevelopment) throw errors.WP_SERVER_LISTEN_DEVELOPMENT({ target: system.target })
  const user = await chooseUser(system, request.user ?? (await readDevelopmentUser(host)))
  const { catalog, settings } = await loadTerms(system, host.variables)
  const outbound = openOutbound({ clock, allow: () => [], loopback: true })
  const subscriptions = makeSubscriptions({
    system,
    secrets,
    outbound,
    catalog: () => catalog,
    settings: () => settings,
  })
  let secret = ''
  const receiver = await openReceiver(request.port, (post) => {
    request.onDelivery(hear(post, secret, clock.now()))
    return request.answer
  })
  const close = async () => {
    await receiver.close()
    await outbound.close()
  }
  try {
    await removeLost(system, subscriptions)
    const by = asLogin(user.id, await loadUserScopes(system.db, user.id))
    const made = await subscriptions.subscribe(by, { event: request.event, endpoint: receiver.endpoint })
    secret = made.secret ?? ''
    return {
      endpoint: receiver.endpoint,
      user: user.name,
      async close() {
        await remove(subscriptions, { by, id: made.subscription.id }).finally(close)
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** What the user does with a login that has every scope. */
function asLogin(id: string, scopes: readonly string[]): Subscriber {
  return { id, scopes, client: { id: loginClientId, isLogin: true } }
}

function hear({ headers, body }: ReceivedPost, secret: string, nowMs: number): HeardDelivery {
  const id = headers['webhook-id']
  const post = { id, timestamp: headers['webhook-timestamp'], signature: headers['webhook-signature'], body }
  const problem = findSignatureProblem(post, secret, nowMs)
  return { id: id ?? '', event: headers['waypost-event'] ?? '', body, problem }
}

/** Of those that did not end in order nobody takes the deliveries. */
async function removeLost({ db }: System, subscriptions: Subscriptions): Promise<void> {
  const rows = await db
    .selectFrom('waypost_subscription')
    .select(['id', 'user_id', 'endpoint'])
    .where('endpoint', 'like', 'http://127.0.0.1:%/event-listen/%')
    .execute()
  const lost = rows.filter(({ endpoint }) => isReceiver(endpoint))
  await Promise.all(
    lost.map(async ({ id, user_id: userId, endpoint }) => {
      if (await isReceiving(endpoint)) return
      await remove(subscriptions, { by: asLogin(userId, await loadUserScopes(db, userId)), id })
    }),
  )
}

/** Somebody may have removed it already. */
async function remove(subscriptions: Subscriptions, which: OwnSubscription): Promise<void> {
  await subscriptions.remove(which).catch((error: unknown) => {
    if (!isWaypostError(error) || error.code !== 'WP_EVENTS_SUBSCRIPTION_UNKNOWN') throw error
  })
}

/** The name of the first user that `dev` made and keeps in its folder. */
async function readDevelopmentUser({ folder }: Host): Promise<string> {
  try {
    const { name } = JSON.parse(await readFile(path.join(folder, '.waypost', 'dev.json'), 'utf8')) as { name?: unknown }
    if (typeof name === 'string') return name
  } catch {
    // Without `dev` there is none yet: the error says that the user is missing.
  }
  return 'dev'
}
