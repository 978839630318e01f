import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { resolveUser, loadUserScopes, loginClientId } from '../../auth/index.ts'
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
import { isReceiverEndpoint, isReceiverRunning, openReceiver, type ReceivedPost } from './open-receiver.ts'

export interface ListenRequest {
  readonly event: string
  /** The subscribing user; by default the first user that `dev` created. */
  readonly user?: string | undefined
  /** 0 selects any free port. */
  readonly port: number
  /** The HTTP status of responses to deliveries. */
  readonly status: number
  onDelivery(delivery: ReceivedDelivery): void
}

/** A delivery that was received. */
export interface ReceivedDelivery {
  readonly id: string
  readonly event: string
  readonly body: string
  /** What is wrong with its signature; undefined if it is valid. */
  readonly problem: string | undefined
}

export interface EventListener {
  readonly endpoint: string
  /** Name of the subscribed user. */
  readonly user: string
  /**
   * Subscribes again if the subscription is gone, by the active release.
   * @throws WP_EVENTS_UNKNOWN, WP_EVENTS_SCOPE
   */
  confirm(): Promise<void>
  /** Removes the subscription and its pending deliveries. */
  close(): Promise<void>
}

/**
 * Subscribes a receiver on this machine to an event, on a development System. First removes subscriptions of receivers
 * that were killed.
 * @throws WP_SERVER_LISTEN_DEVELOPMENT, WP_SERVER_LISTEN_PORT, WP_EVENTS_UNKNOWN, WP_EVENTS_SCOPE
 */
export async function listenToEvent(host: Host, request: ListenRequest): Promise<EventListener> {
  const { system, clock } = host
  const { secrets, isDevelopment } = await openIdentity(host)
  if (!isDevelopment) throw errors.WP_SERVER_LISTEN_DEVELOPMENT({ target: system.target })
  const user = await resolveUser(system, request.user ?? (await readDevelopmentUser(host)))
  let terms = await loadTerms(host)
  const outbound = openOutbound({ clock, allow: () => [], loopback: true })
  const subscriptions = makeSubscriptions({
    system,
    secrets,
    outbound,
    catalog: () => terms.catalog,
    settings: () => terms.settings,
  })
  let secret = ''
  const receiver = await openReceiver(request.port, (post) => {
    request.onDelivery(toReceivedDelivery(post, secret, clock.now()))
    return request.status
  })
  const close = async () => {
    await receiver.close()
    await outbound.close()
  }
  try {
    await removeAbandoned(system, subscriptions)
    const subscribe = async () => {
      const by = asSubscriber(user.id, await loadUserScopes(system.db, user.id))
      const made = await subscriptions.subscribe(by, { event: request.event, endpoint: receiver.endpoint })
      secret = made.secret ?? secret
      return { by, id: made.subscription.id }
    }
    let which = await subscribe()
    return {
      endpoint: receiver.endpoint,
      user: user.name,
      async confirm() {
        terms = await loadTerms(host)
        which = await subscribe()
      },
      async close() {
        await remove(subscriptions, which).finally(close)
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The user as a subscriber logged in with every scope. */
function asSubscriber(id: string, scopes: readonly string[]): Subscriber {
  return { id, scopes, client: { id: loginClientId, isLogin: true } }
}

function toReceivedDelivery({ headers, body }: ReceivedPost, secret: string, nowMs: number): ReceivedDelivery {
  const id = headers['webhook-id']
  const post = { id, timestamp: headers['webhook-timestamp'], signature: headers['webhook-signature'], body }
  const problem = findSignatureProblem(post, secret, nowMs)
  return { id: id ?? '', event: headers['waypost-event'] ?? '', body, problem }
}

/** Removes subscriptions of receivers that no longer run. */
async function removeAbandoned({ db }: System, subscriptions: Subscriptions): Promise<void> {
  const rows = await db
    .selectFrom('waypost_subscription')
    .select(['id', 'user_id', 'endpoint'])
    .where('endpoint', 'like', 'http://127.0.0.1:%/event-listen/%')
    .execute()
  const abandoned = rows.filter(({ endpoint }) => isReceiverEndpoint(endpoint))
  await Promise.all(
    abandoned.map(async ({ id, user_id: userId, endpoint }) => {
      if (await isReceiverRunning(endpoint)) return
      await remove(subscriptions, { by: asSubscriber(userId, await loadUserScopes(db, userId)), id })
    }),
  )
}

/** It may already have been removed. */
async function remove(subscriptions: Subscriptions, which: OwnSubscription): Promise<void> {
  await subscriptions.remove(which).catch((error: unknown) => {
    if (!isWaypostError(error) || error.code !== 'WP_EVENTS_SUBSCRIPTION_UNKNOWN') throw error
  })
}

/** Returns the name of the first user, which `dev` stores in its folder. */
async function readDevelopmentUser({ folder }: Host): Promise<string> {
  try {
    const { name } = JSON.parse(await readFile(path.join(folder, '.waypost', 'dev.json'), 'utf8')) as { name?: unknown }
    if (typeof name === 'string') return name
  } catch {
    // Not created by `dev` yet: the error reports the missing user.
  }
  return 'dev'
}
