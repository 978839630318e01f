import { sql, type RawBuilder } from 'kysely'
import type { System } from '../src/store/index.ts'

/** How many rows a System has. */
export interface Size {
  readonly deliveries: number
  readonly tokens: number
  readonly users: number
  readonly subscriptions: number
  readonly audit: number
}

/** Messages and deliveries are a second apart, and the newest is a minute old. */
const apartMs = 1000

/**
 * Fills System as years do: a message for each delivery; of 100 deliveries, two are dead, one is cancelled, one waits for its
 * next attempt, one was never tried, and the others are delivered. The event `rare` has a thousandth of the subscriptions. All
 * that the names `ann`, `rare` and `client` choose is as frequent in a large System as in a small one.
 */
export async function fillSystem(system: System, size: Size): Promise<void> {
  const { db, kind } = system
  const series = (count: number, first = 1): RawBuilder<unknown> =>
    kind === 'sqlite'
      ? sql`(with recursive n(i) as (select ${sql.lit(first)} union all select i + 1 from n where i < ${sql.lit(count)}) select i from n) as n`
      : sql`generate_series(${sql.lit(first)}, ${sql.lit(count)}) as n(i)`
  const pad = (number: RawBuilder<unknown>) =>
    kind === 'sqlite' ? sql`printf('%010d', ${number})` : sql`lpad(cast(${number} as text), 10, '0')`
  const i = sql`i`
  const { deliveries, tokens, users, subscriptions, audit } = size
  const start = Date.now() - 60_000 - deliveries * apartMs
  const time = sql`(${sql.lit(start)} + cast(i as bigint) * ${sql.lit(apartMs)})`
  const every = (part: number, of: number) => sql`i % ${sql.lit(of)} = ${sql.lit(part)}`
  const oneOf = (count: number) => sql`(i % ${sql.lit(count)})`
  const rare = Math.max(1, subscriptions / 1000)
  const event = (number: RawBuilder<unknown>) =>
    sql`case when ${number} < ${sql.lit(rare)} then 'rare' else 'common' end`
  const state = sql`((i / ${sql.lit(subscriptions)} + i % ${sql.lit(subscriptions)}) % 100)` // of each subscription alike
  const isDead = sql`${state} in (3, 53)`
  const isOver = sql`${state} not in (5, 6)`
  const expires = sql.lit(Date.now() + 3_600_000)
  const later = sql.lit(Date.now() + 7_200_000)
  const statements = [
    sql`insert into waypost_user (id, name, email, status, created_at)
      select 'u' || ${pad(i)}, 'user' || ${pad(i)}, 'user' || i || '@example.com', 'active', i from ${series(users, 0)}`,
    sql`insert into waypost_user_scope (user_id, scope) select 'u' || ${pad(i)}, 'consumer' from ${series(users, 0)}`,
    sql`insert into waypost_user_scope (user_id, scope)
      select 'u' || ${pad(i)}, 'rare' from ${series(users, 0)} where ${every(0, Math.max(1, users / 10))}`,
    sql`insert into waypost_client (id, name, user_id, grants, redirect_uris, status, created_at)
      select 'c' || ${pad(i)}, 'client' || ${pad(i)}, 'u' || ${pad(i)}, 'authorization_code', '[]', 'active', i
      from ${series(users / 10, 0)}`,
    sql`insert into waypost_subscription (id, user_id, event, endpoint, status, revision, secret, lane, created_at)
      select 'sub_' || ${pad(i)}, 'u' || ${pad(oneOf(users))}, ${event(i)}, 'https://example.com/' || i, 'active', 1, '',
        i % 64, i from ${series(subscriptions - 1, 0)}`,
    sql`insert into waypost_message (id, event, data, created_at, fanned_out_at)
      select 'msg_' || ${sortable(time)} || ${pad(i)}, ${event(oneOf(subscriptions))}, '{"title":"a to-do"}', ${time}, ${time}
      from ${series(deliveries)}`,
    sql`insert into waypost_delivery (id, message_id, subscription_id, lane, status, due_at, scheduled_at, failures, lost,
        created_at, finished_at, started_at, latency_ms, response_status, hidden)
      select 'dlv_' || ${sortable(time)} || ${pad(i)}, 'msg_' || ${sortable(time)} || ${pad(i)},
        'sub_' || ${pad(oneOf(subscriptions))}, ${oneOf(subscriptions)} % 64,
        case when ${isDead} then 'dead' when ${state} = 4 then 'cancelled' when ${isOver} then 'delivered'
          else 'pending' end,
        case when ${state} = 6 then 0 when ${state} = 5 then ${later} else ${time} end, ${time},
        case when ${isDead} then 4 when ${state} = 5 then 1 else 0 end, 0, ${time},
        case when ${isOver} then ${time} end, case when ${isOver} and not ${isDead} then ${time} end, 12, 204, 0
      from ${series(deliveries)}`,
    sql`insert into waypost_attempt (delivery_id, id, started_at, latency_ms, status, outcome, answer, hidden)
      select 'dlv_' || ${sortable(time)} || ${pad(i)}, 'att_' || attempt, ${time}, 12, 503, 'status 503', 'busy', 0
      from ${series(deliveries)} cross join (select 1 as attempt union all select 2 union all select 3 union all select 4) as a
      where ${isDead}`,
    sql`insert into waypost_token_family (id, user_id, client_id, scope, created_at, expires_at)
      select 'f' || ${pad(i)}, 'u' || ${pad(oneOf(users))}, 'c' || ${pad(oneOf(users / 10))}, 'consumer', i, ${later} + i
      from ${series(tokens)}`,
    sql`insert into waypost_refresh_token (hash, family_id, created_at, expires_at)
      select 'h' || ${pad(i)}, 'f' || ${pad(i)}, i, ${later} + i from ${series(tokens)}`,
    sql`insert into waypost_token (jti, user_id, client_id, family_id, scope, created_at, expires_at)
      select 't' || ${pad(i)}, 'u' || ${pad(oneOf(users))}, 'c' || ${pad(oneOf(users / 10))}, 'f' || ${pad(i)}, 'consumer', i,
        ${expires} + i from ${series(tokens)}`,
    sql`insert into waypost_audit (id, created_at, how, user_name, action, kind, subject_name)
      select 'aud_' || ${sortable(time)} || ${pad(i)}, ${time}, 'command', 'user' || (i % 10),
        case when ${every(0, Math.max(1, audit / 10))} then 'client.add' else 'user.add' end,
        case when ${every(0, Math.max(1, audit / 10))} then 'client' else 'user' end, 's' || (i % 20) from ${series(audit)}`,
    sql.raw(kind === 'sqlite' ? 'analyze' : 'vacuum analyze'),
  ]
  for (const statement of statements) await statement.execute(db)
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** The ten characters with which sorted ids of a time begin. */
function sortable(time: RawBuilder<unknown>): RawBuilder<unknown> {
  const digits = Array.from({ length: 10 }, (_, place) => {
    const power = sql.lit(32 ** (9 - place))
    return sql`substr(${sql.lit(alphabet)}, cast((${time} / ${power}) % 32 as int) + 1, 1)`
  })
  return sql`(${sql.join(digits, sql` || `)})`
}
