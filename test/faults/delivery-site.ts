import type { DatabaseKind } from '../../src/contract/index.ts'
import assert from 'node:assert/strict'
import { Webhook } from 'standardwebhooks'
import { makeDispatcher, makeSubscriptions } from '../../src/events/index.ts'
import { openOutbound } from '../../src/outbound/index.ts'
import { addHostUser } from '../../src/operate/index.ts'
import { executeHostEvents, type Execution } from '../../src/jobs/index.ts'
import { loadTerms, openIdentity, type Host } from '../../src/host/index.ts'
import type { System } from '../../src/store/index.ts'
import { openTestHost } from '../events/host.ts'
import { openReceiver, type Received, type Receiver } from '../events/receiver.ts'
import { asLogin } from '../events/world.ts'
import { startCli, type CliOptions, type RunningCli } from '../support/cli.ts'
import { asCommand } from '../support/server.ts'

export interface SiteOptions {
  readonly kind: DatabaseKind
  /** The release's settings, as under `config:`. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Uses this address of PostgreSQL instead of a new database of the shared server. */
  readonly url?: string
}

/** One delivery as System has it. */
export interface DeliveryState {
  readonly id: string
  readonly status: string
  readonly failures: number
  readonly lost: number
  /** A worker has noted that it posts this turn. */
  readonly isNoted: boolean
}

/** A System with a release and a subscriber, where workers are processes of the built command line. */
export interface DeliverySite extends AsyncDisposable {
  readonly system: System
  readonly host: Host
  /** A subscriber with a ledger of what it received. */
  readonly receiver: Receiver
  /** Subscribes an endpoint to the event `note`; paths are of the receiver. */
  subscribe(endpoint: string): Promise<void>
  /** Dispatches `note` with the data 1, 2, 3 … */
  dispatch(count: number): Promise<void>
  /** Starts `event:execute` as cron does. */
  startWorker(
    words?: readonly string[],
    env?: Readonly<Record<string, string>>,
    options?: Pick<CliOptions, 'stderr'>,
  ): RunningCli
  /** Lets so much time pass for deliveries that wait, for breakers and for the leases of workers. */
  passTime(ms: number): Promise<void>
  /** Delivers in this process until nothing is due. */
  execute(): Promise<Execution>
  deliveries(): Promise<readonly DeliveryState[]>
  /** The ids of what arrived, one for each POST; fails where the signature of one is wrong. */
  arrived(received?: readonly Received[]): readonly string[]
}

export async function openDeliverySite({ kind, config = {}, url }: SiteOptions): Promise<DeliverySite> {
  const opened = await openTestHost(kind, url)
  const { host, folder, variables } = opened
  const { system } = host
  await opened.activate({ events: { note: {} }, config })
  const { secrets } = await openIdentity(host)
  const user = await addHostUser(asCommand(host), { name: 'ann', scopes: [], admin: false })
  const receiver = await openReceiver()
  const outbound = openOutbound({ allow: () => [], loopback: true })
  const terms = await loadTerms(host)
  const signers = new Map<string, string>()
  const subscriptions = makeSubscriptions({
    system,
    secrets,
    outbound,
    catalog: () => terms.catalog,
    settings: () => terms.settings,
  })
  return {
    system,
    host,
    receiver,
    async subscribe(endpoint) {
      const { href, pathname } = new URL(endpoint, receiver.url)
      const made = await subscriptions.subscribe(asLogin(user.id), { event: 'note', endpoint: href })
      signers.set(pathname, made.secret!)
    },
    async dispatch(count) {
      const dispatcher = makeDispatcher(system, terms.catalog)
      await dispatcher.store(
        Array.from({ length: count }, (_, index) => dispatcher.prepare({ event: 'note', data: index + 1 })),
      )
    },
    startWorker: (words = [], env = {}, options = {}) =>
      startCli(['event:execute', ...words], { cwd: folder, env: { ...variables, ...env }, ...options }),
    passTime: (ms) => passTime(system, ms),
    execute: () => executeHostEvents(host),
    deliveries: () => loadDeliveries(system),
    arrived: (received = receiver.received) => received.map((one) => checkSignature(one, signers.get(one.path))),
    async [Symbol.asyncDispose]() {
      await receiver.close()
      await outbound.close()
      await opened.close()
    },
  }
}

async function loadDeliveries({ db }: System): Promise<readonly DeliveryState[]> {
  const workers = await db.selectFrom('waypost_worker').select('note').execute()
  const noted = new Map(workers.flatMap(({ note }) => JSON.parse(note) as readonly (readonly [string, number])[]))
  const rows = await db.selectFrom('waypost_delivery').selectAll().orderBy('id').execute()
  return rows.map((row) => ({ ...row, isNoted: row.status === 'pending' && noted.get(row.id) === row.turn }))
}

/** For the database it is later than it was. Living workers renew their leases before others end them. */
async function passTime({ db }: System, ms: number): Promise<void> {
  await db
    .updateTable('waypost_delivery')
    .set((column) => ({ due_at: column('due_at', '-', ms) }))
    .where('status', '=', 'pending')
    .where('due_at', '>', 0)
    .execute()
  await db
    .updateTable('waypost_subscription')
    .set((column) => ({ open_until: column('open_until', '-', ms) }))
    .execute()
  await db
    .updateTable('waypost_worker')
    .set((column) => ({ lease_until: column('lease_until', '-', ms) }))
    .execute()
}

/** @returns the id of the delivery */
function checkSignature({ headers, body, path }: Received, secret: string | undefined): string {
  assert.ok(secret !== undefined, `nobody subscribed ${path}`)
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const
  new Webhook(secret).verify(body, Object.fromEntries(names.map((name) => [name, String(headers[name])])))
  return String(headers['webhook-id'])
}
