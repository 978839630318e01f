import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach, before, beforeEach, describe } from 'node:test'
import { loginClientId } from '../../src/auth/index.ts'
import { Member } from '../../src/events/lanes/member.ts'
import { laneCount } from '../../src/events/lanes/shares.ts'
import type { EventCatalog } from '../../src/events/message/catalog.ts'
import {
  allAttempts,
  executeEvents,
  makeDispatcher,
  makeSubscriptions,
  type AttemptReport,
  type ExecuteOptions,
  type Subscriber,
  type Summary,
} from '../../src/events/index.ts'
import { defaultSettings, makeUuid, userAgent, type Settings } from '../../src/kit/index.ts'
import { openOutbound, type Outbound } from '../../src/outbound/index.ts'
import { makeSecrets, openSystem, type Secrets, type System } from '../../src/store/index.ts'
import { makeTestClock, type TestClock } from '../support/clock.ts'
import { bothKinds, chooseKinds, defaultKinds, type Kind } from '../support/forms.ts'
import { copySystem } from '../support/migrated.ts'
import { startPostgres } from '../support/postgres.ts'
import { openReceiver, type Answer, type Receiver } from './receiver.ts'

export interface DeliveryRow {
  readonly id: string
  readonly subscription_id: string
  readonly status: string
  /** 0 if it has not been put off. */
  readonly due_at: number
  readonly created_at: number
  readonly failures: number
  readonly lost: number
  readonly turn: number
}

/** A System with users, subscriptions and receivers, and time that a test turns. */
export interface World {
  readonly kind: System['kind']
  readonly url: string
  readonly system: System
  /** The database's too. */
  readonly clock: TestClock
  readonly secrets: Secrets
  readonly outbound: Outbound
  /** What `execute` reported in this test. */
  readonly attempts: AttemptReport[]
  catalog: EventCatalog
  settings: Settings
  /** @returns the user's id */
  addUser(scopes?: readonly string[]): Promise<string>
  openReceiver(answer?: Answer): Promise<Receiver>
  subscribe(user: string, event: string, endpoint: string): Promise<{ id: string; secret: string }>
  /** Subscriptions straight into the table, for when there are many. */
  addSubscriptions(user: string, event: string, endpoints: readonly string[]): Promise<readonly string[]>
  dispatch(event: string, data: unknown, users?: readonly string[]): Promise<void>
  execute(options?: Partial<ExecuteOptions>): Promise<Summary>
  deliveries(): Promise<readonly DeliveryRow[]>
  attemptRows(): Promise<readonly { outcome: string; status: number | null; answer: string | null }[]>
}

export const day = 86_400_000

/** On a busy machine a POST can take long. */
const settings: Settings = { ...defaultSettings, delivery_timeout: 55_000 }

/** A user with the token of a login. */
export function asLogin(id: string, scopes: readonly string[] = ['consumer']): Subscriber {
  return { id, scopes, client: { id: loginClientId, isLogin: true } }
}

/** Declares tests that begin with an empty System each: on PostgreSQL, in the long form on SQLite too. */
export function onEachDatabase(name: string, declare: (world: () => World) => void): void {
  onDatabases(name, defaultKinds, declare)
}

/** The same for tests of what a worker does with the rows: on SQLite, in the long form on PostgreSQL too. */
export function onAnyDatabase(name: string, declare: (world: () => World) => void): void {
  onDatabases(name, chooseKinds('sqlite'), declare)
}

/** For tests of statements that differ between the databases. */
export function onBothDatabases(name: string, declare: (world: () => World) => void): void {
  onDatabases(name, bothKinds, declare)
}

function onDatabases(name: string, kinds: readonly Kind[], declare: (world: () => World) => void): void {
  for (const kind of kinds) {
    describe(`${name}, ${kind}`, () => {
      const receivers: Receiver[] = []
      let opened: Awaited<ReturnType<typeof openWorld>>
      before(async () => {
        opened = await openWorld(kind, receivers)
      })
      beforeEach(() => empty(opened.world))
      afterEach(async () => {
        for (const receiver of receivers.splice(0)) await receiver.close()
      })
      after(() => opened.close())
      declare(() => opened.world)
    })
  }
}

async function empty(world: World): Promise<void> {
  for (const name of [
    'message',
    'delayed',
    'run',
    'delivery',
    'attempt',
    'subscription',
    'user_scope',
    'user',
    'worker',
  ] as const) {
    await world.system.db.deleteFrom(`waypost_${name}`).execute()
  }
  await world.system.db.updateTable('waypost_lane').set({ worker_id: null }).execute()
  world.attempts.length = 0
  world.catalog = { note: {}, other_note: {}, guarded: { scopes: ['secret', 'other'] } }
  world.settings = settings
}

/** @param receivers where those are noted that have to be closed */
export async function openWorld(
  kind: System['kind'],
  receivers: Receiver[] = [],
): Promise<{ world: World; close(): Promise<void> }> {
  const place = await (kind === 'sqlite' ? makeFile() : makeDatabase())
  const clock = makeTestClock()
  await copySystem(place.url, '')
  const system = await openSystem({ url: place.url, clock, create: true, disposable: true })
  const outbound = openOutbound({ allow: () => [], loopback: true, clock })
  const secrets = makeSecrets('a secret that is long enough for a test')
  const subscriptions = makeSubscriptions({
    system,
    secrets,
    outbound,
    catalog: () => world.catalog,
    settings: () => world.settings,
  })
  const world: World = {
    kind,
    url: place.url,
    system,
    clock,
    secrets,
    outbound,
    attempts: [],
    catalog: {},
    settings,
    addUser: (scopes = ['consumer']) => addUser(system, scopes),
    async openReceiver(answer) {
      const receiver = await openReceiver(answer)
      receivers.push(receiver)
      return receiver
    },
    async subscribe(user, event, endpoint) {
      const made = await subscriptions.subscribe(asLogin(user, ['consumer', 'secret']), { event, endpoint })
      return { id: made.subscription.id, secret: made.secret! }
    },
    addSubscriptions: (user, event, endpoints) => addSubscriptions(world, { user, event, endpoints }),
    async dispatch(event, data, users) {
      const dispatcher = makeDispatcher(system, world.catalog)
      await dispatcher.store([dispatcher.prepare({ event, data, users })])
    },
    execute: (options = {}) =>
      executeEvents({
        system,
        secrets,
        outbound,
        clock,
        userAgent,
        catalog: () => world.catalog,
        settings: () => world.settings,
        onAttempt: (attempt) => world.attempts.push(attempt),
        ...options,
      }),
    deliveries: () => system.db.selectFrom('waypost_delivery').selectAll().orderBy('id').execute(),
    attemptRows: () =>
      system.db.selectFrom(allAttempts.as('attempt')).selectAll().orderBy('started_at').orderBy('id').execute(),
  }
  return {
    world,
    async close() {
      await outbound.close()
      await system.close()
      await place.remove()
    },
  }
}

/** A worker that has nothing under way. */
export function makeMember({ system, clock }: Pick<World, 'system' | 'clock'>): Member {
  return new Member(system, clock, { usedLanes: () => new Set<number>(), forgetQueued: () => undefined })
}

/**
 * Leaves the row and the lanes of a worker of this machine that died after it wrote a note with all pending deliveries.
 * @param changes of its row
 */
export async function leaveDead(
  world: Pick<World, 'system' | 'clock'>,
  changes: { readonly place?: string; readonly lease_until?: number } = {},
): Promise<void> {
  const member = makeMember(world)
  await member.rebalance()
  const { db } = world.system
  const rows = await db.selectFrom('waypost_delivery').select(['id', 'turn']).where('status', '=', 'pending').execute()
  const note = JSON.stringify(rows.map(({ id, turn }) => [id, turn]))
  const dead = `wrk_dead_${makeUuid()}` // an id that this process does not know
  await db
    .updateTable('waypost_worker')
    .set({ ...changes, id: dead, note })
    .where('id', '=', member.id!)
    .execute()
  await db.updateTable('waypost_lane').set({ worker_id: dead }).where('worker_id', '=', member.id!).execute()
}

async function makeFile() {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-events-'))
  return { url: `sqlite:${path.join(folder, 'system.db')}`, remove: () => rm(folder, { recursive: true }) }
}

async function makeDatabase() {
  const server = await startPostgres({ unusual: true, translated: false })
  return { url: await server.createSystem(), remove: () => server.stop() }
}

async function addUser(system: System, scopes: readonly string[]): Promise<string> {
  const id = makeUuid()
  const user = { id, name: id, email: null, password_hash: null, status: 'active' as const, created_at: system.now() }
  await system.db.insertInto('waypost_user').values(user).execute()
  const rows = scopes.map((scope) => ({ user_id: id, scope }))
  if (rows.length > 0) await system.db.insertInto('waypost_user_scope').values(rows).execute()
  return id
}

async function addSubscriptions(
  { system, secrets }: World,
  { user, event, endpoints }: { user: string; event: string; endpoints: readonly string[] },
): Promise<readonly string[]> {
  const rows = endpoints.map((endpoint, index) => {
    const id = `sub_${String(index).padStart(6, '0')}_${makeUuid()}`
    const place = { table: 'waypost_subscription', row: id, column: 'secret' } as const
    const secret = secrets.seal(`whsec_${Buffer.from(id).toString('base64')}`, place)
    return {
      id,
      user_id: user,
      event,
      endpoint,
      secret,
      status: 'active' as const,
      revision: 1,
      lane: index % laneCount,
      created_at: system.now(),
    }
  })
  for (let start = 0; start < rows.length; start += 500) {
    await system.db
      .insertInto('waypost_subscription')
      .values(rows.slice(start, start + 500))
      .execute()
  }
  return rows.map((row) => row.id)
}
