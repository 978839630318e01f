import type { ChildProcess } from 'node:child_process'
import { sql } from 'kysely'
import { fanOutChunk } from '../src/events/message/fan-out.ts'
import { makeDispatcher } from '../src/events/index.ts'
import { drawLane } from '../src/events/lanes/shares.ts'
import { makeWebhookSecret } from '../src/events/signing/signature.ts'
import { makeSortedId, makeUuid } from '../src/kit/index.ts'
import { openIdentity } from '../src/host/index.ts'
import type { System } from '../src/store/index.ts'
import { openTestHost } from '../test/events/host.ts'
import type { TestPostgres } from '../test/support/postgres.ts'
import { openChild } from './child.ts'
import { nextReport } from './turns.ts'

/** Concurrent POSTs of each worker. */
export const concurrency = 50

/** The dispatched data. */
export const todo = {
  id: 4711,
  status: 1,
  title: 'Buy milk',
  content: 'Two bottles',
  insert_date: '2026-11-21T20:00:00.000Z',
}

/** The settings of a worker process. */
export interface WorkerPlace {
  readonly url: string
  readonly folder: string
  readonly variables: Readonly<Record<string, string>>
}

/** A System with subscriptions whose deliveries other processes send. */
export interface DeliverySite {
  readonly place: WorkerPlace
  readonly system: System
  /** Creates one active subscription for each endpoint. */
  subscribe(event: string, endpoints: readonly string[]): Promise<void>
  dispatch(event: string, data: unknown): Promise<void>
  /** Creates this many deliveries at once, each message for all subscriptions of the event. */
  queue(event: string, deliveries: number): Promise<void>
  /** Creates the deliveries of all waiting messages. */
  fanOut(): Promise<void>
  close(): Promise<void>
}

const catalog = { todo_created: {}, todo_changed: {}, todo_deleted: {}, todo_timed: {} }

export async function openDeliverySite(postgres: TestPostgres): Promise<DeliverySite> {
  const url = await postgres.createDatabase()
  const { host, folder, variables, activate, close } = await openTestHost('postgresql', url)
  const { system } = host
  await activate({ events: catalog })
  const { secrets } = await openIdentity(host)
  const user = makeUuid()
  await system.db
    .insertInto('waypost_user')
    .values({ id: user, name: 'ann', email: null, password_hash: null, status: 'active', created_at: system.now() })
    .execute()
  await system.db.insertInto('waypost_user_scope').values({ user_id: user, scope: 'consumer' }).execute()
  const dispatcher = makeDispatcher(system, catalog)
  let count = 0

  const row = (event: string, endpoint: string) => {
    const id = `sub_${String(count++).padStart(9, '0')}`
    const secret = secrets.seal(makeWebhookSecret(), { table: 'waypost_subscription', row: id, column: 'secret' })
    return { id, event, endpoint, secret, lane: drawLane() }
  }
  return {
    place: { url, folder, variables },
    system,
    async subscribe(event, endpoints) {
      for (let start = 0; start < endpoints.length; start += 10_000) {
        const rows = JSON.stringify(endpoints.slice(start, start + 10_000).map((endpoint) => row(event, endpoint)))
        await sql`insert into waypost_subscription (id, user_id, event, endpoint, status, revision, secret, lane, created_at)
          select id, ${user}, event, endpoint, 'active', 1, secret, lane, ${system.now()}
          from json_to_recordset(cast(${rows} as json)) as row (id text, event text, endpoint text, secret text, lane int)`.execute(
          system.db,
        )
      }
    },
    dispatch: (event, data) => dispatcher.store([dispatcher.prepare({ event, data })]),
    async queue(event, deliveries) {
      const { count: subscribers } = await system.db
        .selectFrom('waypost_subscription')
        .select((query) => query.fn.countAll<number>().as('count'))
        .where('event', '=', event)
        .executeTakeFirstOrThrow()
      await insertQueue(system, { event, messages: Math.ceil(deliveries / subscribers) })
    },
    async fanOut() {
      while (await fanOutChunk(system, catalog));
    },
    close,
  }
}

/** Uses two statements, because the dispatcher and fan-out would take longer than the measurement for a million. */
async function insertQueue(system: System, { event, messages }: { event: string; messages: number }): Promise<void> {
  const now = system.now()
  const prefix = makeSortedId('msg_', Date.now())
  await sql`insert into waypost_message (id, event, data, created_at, fanned_out_at)
    select ${prefix} || '_' || lpad(n::text, 9, '0'), ${event}, ${JSON.stringify(todo)}, ${now}, ${now}
    from generate_series(1, ${sql.lit(messages)}) n`.execute(system.db)
  await sql`insert into waypost_delivery
    (id, message_id, subscription_id, lane, status, due_at, scheduled_at, failures, lost, created_at)
    select 'dlv_' || m.id || '_' || s.id, m.id, s.id, s.lane, 'pending', 0, ${now}, 0, 0, ${now}
    from waypost_message m cross join waypost_subscription s where m.id like ${`${prefix}_%`} and s.event = ${event}
    order by m.id, s.id`.execute(system.db)
}

/** Starts subscribers in their own process. */
export async function openReceiver(): Promise<{ receiver: ChildProcess; port: number }> {
  const receiver = openChild('receiver-process.ts')
  const { port } = (await nextReport(receiver)) as { port: number }
  return { receiver, port }
}

/** @returns the process of a worker, once it is ready */
export async function openWorker(role: 'waypost' | 'graphile', place: WorkerPlace): Promise<ChildProcess> {
  const worker = openChild('delivery-process.ts', role, JSON.stringify(place))
  await nextReport(worker)
  return worker
}
