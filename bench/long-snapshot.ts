import { sql } from 'kysely'
import { readDeliveries } from '../src/events/lanes/read.ts'
import { laneCount } from '../src/events/lanes/shares.ts'
import { defaultSettings, sortedIdPrefix, systemClock } from '../src/kit/index.ts'
import type { System } from '../src/store/index.ts'
import { openTestHost } from '../test/events/host.ts'
import { beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'

const subscriptions = 100
const fresh = scaled(1000, subscriptions)
const hourMs = 3_600_000

/** Measures reading the queue on PostgreSQL under a snapshot that is older than many deliveries. */
export async function measureLongSnapshot(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const delivered of [0, 100_000, 400_000]) figures.push(...(await measureBehind(scaled(delivered, 1000))))
  return figures
}

async function measureBehind(delivered: number): Promise<Figure[]> {
  const { host, activate, close } = await openTestHost('postgresql')
  const { db } = host.system
  try {
    await activate({ events: { note: {} } })
    await sql`insert into waypost_subscription (id, user_id, event, endpoint, status, revision, secret, lane, created_at)
      select 'sub_' || lpad(cast(i as text), 6, '0'), 'u', 'note', 'https://example.com/' || i, 'active', 1, '', i % 64, i
      from generate_series(1, ${sql.lit(subscriptions)}) as n(i)`.execute(db)
    const now = Date.now()
    return await db.connection().execute(async (snapshot) => {
      await sql`begin isolation level repeatable read`.execute(snapshot)
      await sql`select 1 from waypost_delivery limit 1`.execute(snapshot)
      await add(host.system, delivered, sortedIdPrefix('msg_', now - hourMs))
      await sql`update waypost_delivery set status = 'delivered', finished_at = 1, turn = 1`.execute(db)
      await add(host.system, fresh, sortedIdPrefix('msg_', now))
      await sql.raw('vacuum analyze waypost_delivery').execute(db)
      const from = { 'all of it': '', 'from a mark': sortedIdPrefix('msg_', now - hourMs / 2) }
      const figures: Figure[] = []
      for (const [how, mark] of Object.entries(from)) {
        const what = `reading ${fresh} deliveries under a snapshot older than ${delivered}, ${how}`
        figures.push(beside(what, { value: await measureReading(host.system, mark), unit: 'ms' }))
      }
      await sql`rollback`.execute(snapshot)
      return figures
    })
  } finally {
    await close()
  }
}

async function measureReading(system: System, from: string): Promise<number> {
  const times: number[] = []
  for (let round = -2; round < scaled(7); round++) {
    const positions = Array.from({ length: laneCount }, (_, lane) => ({
      lane,
      after: '',
      from,
      later: [0, ''] as const,
    }))
    const terms = { catalog: { note: {} }, settings: defaultSettings, loaded: [], clock: systemClock }
    const limits = { size: fresh, maxSubscriptions: 50, maxLater: 50 }
    const start = performance.now()
    const { deliveries } = await readDeliveries(system, { ...terms, ...limits, positions })
    if (round >= 0) times.push(performance.now() - start) // the others warm up
    if (deliveries.length !== fresh) throw new Error(`${deliveries.length} deliveries were read`)
  }
  return median(times)
}

async function add({ db }: System, count: number, prefix: string): Promise<void> {
  await sql`insert into waypost_delivery
    (id, message_id, subscription_id, lane, status, due_at, scheduled_at, failures, lost, created_at)
    select ${prefix} || lpad(cast(i as text), 10, '0') || s.id, ${prefix} || lpad(cast(i as text), 10, '0'), s.id, s.lane,
      'pending', 0, 0, 0, 0, 1
    from generate_series(1, ${sql.lit(count / subscriptions)}) as n(i) cross join waypost_subscription s
    order by i, s.id`.execute(db)
}
