import { sql } from 'kysely'
import type { System } from '../src/store/index.ts'
import { openAdmin } from '../test/backend/admin.ts'
import { atMost, type Figure } from './goal.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'

const deliveries = scaled(100_000, 1000)
const rounds = scaled(25)
const limitMs = 100

/** Measures pages of 50 of 100,000 deliveries in the admin API on PostgreSQL, at the beginning and at the end of lists. */
export async function measureDeliveryPages(): Promise<Figure[]> {
  await using world = await openAdmin('postgresql')
  await fill(world.system)
  const id = (prefix: string, at: number) => `${prefix}_${String(at).padStart(20, '0')}`
  const after = (sort: string, ...values: readonly (string | number)[]) =>
    `&cursor=${Buffer.from(JSON.stringify([sort, ...values])).toString('base64url')}`
  const deepest = 10 * 51 // a tenth is dead, and a tenth has the subscription
  const pages = {
    'page of 100,000 deliveries': '',
    '  the last page': after('id desc', id('dlv', 51)),
    '  dead ones': '&status=dead',
    '  the last page of dead ones': `&status=dead${after('finished_at desc,id desc', deepest, id('dlv', deepest))}`,
    '  of a subscription': `&subscription=${id('sub', 3)}`,
    '  the last page of a subscription': `&subscription=${id('sub', 3)}${after('message_id desc', id('msg', deepest))}`,
    '  of an event, 1 of 10': '&event=rare',
    '  of a user, 1 of 10': '&user=ann',
  }
  const figures: Figure[] = []
  for (const [name, query] of Object.entries(pages)) {
    const times: number[] = []
    for (let round = -3; round < rounds; round++) {
      const start = performance.now()
      const { status, body } = await world.call(`GET /delivery?limit=50${query}`)
      const ms = performance.now() - start
      if (status !== 200 || body.entry.length !== 50) throw new Error(`${name}: ${status}, ${body.entry?.length} rows`)
      if (round >= 0) times.push(ms) // the others warm up
    }
    figures.push(atMost(name, { value: median(times), unit: 'ms' }, limitMs))
  }
  return figures
}

async function fill({ db }: System): Promise<void> {
  const { id: user } = await db
    .selectFrom('waypost_user')
    .select('id')
    .where('name', '=', 'ann')
    .executeTakeFirstOrThrow()
  const number = (prefix: string) => sql`${prefix} || lpad(cast(i as text), 20, '0')`
  const statements = [
    sql`insert into waypost_subscription (id, user_id, event, endpoint, status, revision, secret, created_at)
      select ${number('sub_')}, case when i = 3 then ${user} else 'u' || i end, case when i = 7 then 'rare' else 'note' end, 'https://example.com/' || i,
        'active', 1, '', i from generate_series(0, 9) i`,
    sql`insert into waypost_message (id, event, data, users, created_at, fanned_out_at)
      select ${number('msg_')}, case when i % 10 = 7 then 'rare' else 'note' end, '{"title":"a to-do"}', null, i, i
      from generate_series(1, ${deliveries}) i`,
    sql`insert into waypost_delivery (id, message_id, subscription_id, status, due_at, scheduled_at, failures, lost,
        created_at, finished_at)
      select ${number('dlv_')}, ${number('msg_')}, 'sub_' || lpad(cast(i % 10 as text), 20, '0'),
        case when i % 10 = 0 then 'dead' else 'delivered' end, i, i, 0, 0, i, i
      from generate_series(1, ${deliveries}) i`,
    sql`insert into waypost_attempt (delivery_id, id, started_at, latency_ms, status, outcome, answer, hidden)
      select ${number('dlv_')}, 'att_1', i, 12, 204, 'delivered', 'ok', 0 from generate_series(1, ${deliveries}) i`,
    sql`analyze`,
  ]
  for (const statement of statements) await statement.execute(db)
}
