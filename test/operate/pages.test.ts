// Lists of the admin API over many rows. What the database reads is counted, because times depend on the machine.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CompiledQuery, sql } from 'kysely'
import {
  listHostAudit,
  listHostClients,
  listHostDeliveries,
  listHostMessages,
  listHostSubscriptions,
  listHostTokens,
  listHostUsers,
} from '../../src/operate/index.ts'
import type { System } from '../../src/store/index.ts'
import type { Host } from '../../src/host/index.ts'
import { readDeliveries } from '../../src/events/lanes/read.ts'
import { defaultSettings } from '../../src/kit/index.ts'
import { explainQuery, pagesOf, recordQueries, type Recorded } from '../support/recorded-queries.ts'
import { defaultKinds } from '../support/forms.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const deliveries = 100_000
const others = 20_000
const limit = 50
/** Pages of 8 KB that a list may touch; a scan of the smallest of these tables touches more. */
const maxPages = 450
/** Of a subscription, all deliveries in its lane that were put off may be read, because no index has its order. */
const maxPagesOfLane = 3500

for (const kind of defaultKinds) {
  describe(`pages of long lists on ${kind}`, () => {
    let server: TestServer
    let system: System
    before(async () => {
      server = await startTestServer({ kind })
      system = server.host.system
      await fill(system)
    })
    after(() => server.close())

    type List = (
      host: Pick<Host, 'system' | 'clock'>,
      cursor?: string,
    ) => Promise<{ entry: readonly object[]; next: string | undefined }>
    const middle = (sort: string, ...values: (string | number)[]) =>
      Buffer.from(JSON.stringify([sort, ...values])).toString('base64url')
    const number = (prefix: string, at: number) => `${prefix}${String(at).padStart(20, '0')}`
    const deep = deliveries / 2
    const lists: Readonly<Record<string, readonly [list: List, cursor: string]>> = {
      deliveries: [
        (host, cursor) => listHostDeliveries(host, { cursor, limit }),
        middle('id desc', number('dlv_', deep)),
      ],
      'delivered ones': [
        (host, cursor) => listHostDeliveries(host, { state: 'delivered', cursor, limit }),
        middle('id desc', number('dlv_', deep)),
      ],
      'dead ones': [
        (host, cursor) => listHostDeliveries(host, { state: 'dead', cursor, limit }),
        middle('finished_at desc,id desc', deep, number('dlv_', deep)),
      ],
      'pending ones': [
        (host, cursor) => listHostDeliveries(host, { state: 'pending', cursor, limit }),
        middle('due_at asc,id asc', deep, number('dlv_', deep)),
      ],
      'deliveries of a subscription': [
        (host, cursor) => listHostDeliveries(host, { subscription: 'sub_00000000000000000003', cursor, limit }),
        middle('message_id desc', number('msg_', deep)),
      ],
      'dead ones of a subscription': [
        (host, cursor) =>
          listHostDeliveries(host, { subscription: 'sub_00000000000000000001', state: 'dead', cursor, limit }),
        middle('message_id desc', number('msg_', deep)),
      ],
      'retrying ones': [
        (host, cursor) => listHostDeliveries(host, { state: 'retrying', cursor, limit }),
        middle('due_at asc,id asc', deep, number('dlv_', deep)),
      ],
      'deliveries to an endpoint': [
        (host, cursor) => listHostDeliveries(host, { endpoint: 'shop.example/0', cursor, limit }),
        middle('message_id desc,subscription_id desc', number('msg_', deep), number('sub_', 5)),
      ],
      'deliveries of a user': [
        (host, cursor) => listHostDeliveries(host, { user: number('user', 3), cursor, limit }),
        middle('message_id desc,subscription_id desc', number('msg_', deep), number('sub_', 5)),
      ],
      'deliveries of a rare event': [
        (host, cursor) => listHostDeliveries(host, { event: 'rare', cursor, limit }),
        middle('message_id desc,subscription_id desc', number('msg_', deep + 1000), number('sub_', 5)),
      ],
      'dead ones of a rare event': [
        (host, cursor) => listHostDeliveries(host, { event: 'rarely dead', state: 'dead', cursor, limit }),
        middle('message_id desc,subscription_id desc', number('msg_', deep + 1000), number('sub_', 5)),
      ],
      'cancelled ones': [
        (host, cursor) => listHostDeliveries(host, { state: 'cancelled', cursor, limit }),
        middle('id desc', number('dlv_', deep + 1000)),
      ],
      'messages of a rare event': [
        (host, cursor) => listHostMessages(host, { event: 'rare', cursor, limit }),
        middle('id desc', number('msg_', deep + 1000)),
      ],
      'pending ones to an endpoint': [
        (host, cursor) => listHostDeliveries(host, { endpoint: 'shop.example/0', state: 'pending', cursor, limit }),
        middle('due_at asc,id asc', deep, number('dlv_', deep)),
      ],
      'recently dead ones': [
        (host, cursor) => listHostDeliveries(host, { state: 'dead', since: { atMs: 0 }, cursor, limit }),
        middle('finished_at desc,id desc', deep, number('dlv_', deep)),
      ],
      messages: [(host, cursor) => listHostMessages(host, { cursor, limit }), middle('id desc', number('msg_', deep))],
      subscriptions: [
        (host, cursor) => listHostSubscriptions(host, { cursor, limit }),
        middle('id desc', number('sub_', others / 2)),
      ],
      'subscriptions of an event': [
        (host, cursor) => listHostSubscriptions(host, { event: 'note', cursor, limit }),
        middle('id desc', number('sub_', others / 2)),
      ],
      users: [(host, cursor) => listHostUsers(host, { cursor, limit }), middle('name asc', number('user', others / 2))],
      'users by age': [
        (host, cursor) => listHostUsers(host, { sort: '-created', cursor, limit }),
        middle('created_at desc,id desc', others / 2, number('u', others / 2)),
      ],
      clients: [
        (host, cursor) => listHostClients(host, { cursor, limit }),
        middle('name asc,id asc', number('client', others / 2), number('c', others / 2)),
      ],
      'clients by age': [
        (host, cursor) => listHostClients(host, { sort: 'created', cursor, limit }),
        middle('created_at asc,id asc', others / 2, number('c', others / 2)),
      ],
      'tokens by expiry': [
        (host, cursor) => listHostTokens(host, { sort: 'expires', cursor, limit }),
        middle('expires_at asc,jti asc', Date.now() + 3_600_000 + others / 2, number('t', others / 2)),
      ],
      'tokens of a user': [
        (host, cursor) => listHostTokens(host, { user: number('user', 5), cursor, limit }),
        middle('created_at desc,jti asc', others / 2, number('t', others / 2)),
      ],
      'audit log': [
        (host, cursor) => listHostAudit(host, { cursor, limit }),
        middle('id desc', number('aud_', others / 2)),
      ],
      'audit log of a user': [
        (host, cursor) => listHostAudit(host, { user: 'user3', cursor, limit }),
        middle('id desc', number('aud_', others / 2)),
      ],
      'audit log of an action': [
        (host, cursor) => listHostAudit(host, { action: 'user.add', cursor, limit }),
        middle('id desc', number('aud_', others / 2)),
      ],
      'audit log of a kind': [
        (host, cursor) => listHostAudit(host, { action: 'client', cursor, limit }),
        middle('id desc', number('aud_', others / 2)),
      ],
      'users with a rare scope': [
        (host, cursor) => listHostUsers(host, { scope: 'rare', cursor, limit }),
        middle('name asc', number('user', others / 2)),
      ],
      'audit log of a subject': [
        (host, cursor) => listHostAudit(host, { subject: 's7', cursor, limit }),
        middle('id desc', number('aud_', others / 2)),
      ],
    }

    for (const [name, [list, cursor]] of Object.entries(lists)) {
      test(`${name}: a page is read from an index at any depth, without the rows before it`, async () => {
        for (const at of [undefined, cursor]) {
          const { host, queries } = record(server.host)
          const { entry } = await list(host, at)
          assert.equal(entry.length, limit)
          assert.ok(queries.length > 0)
          for (const query of queries) await assertCheap(query)
        }
      })
    }

    test('those to an endpoint are complete and in order over all its subscriptions and pages', async () => {
      const limit = 200
      const ids: string[] = []
      const from = middle('message_id desc,subscription_id desc', number('msg_', 2001), number('sub_', 1))
      for (let cursor: string | undefined = from; cursor !== undefined;) {
        const page = await listHostDeliveries(server.host, { endpoint: 'https://shop.example/0', cursor, limit })
        ids.push(...page.entry.map(({ id }) => id))
        cursor = page.next
      }
      const wanted = Array.from({ length: 2000 }, (_, index) => 2000 - index)
      const isOf = (at: number) => [2, 4, 6, 8].includes(at % 10)
      assert.deepEqual(
        ids,
        wanted.filter(isOf).map((at) => number('dlv_', at)),
      )
    })

    test('an endpoint with very many subscriptions is searched in one statement', async () => {
      const { host, queries } = record(server.host)
      const page = await listHostDeliveries(host, { endpoint: 'https://example.com/', limit })
      assert.deepEqual([page, queries.length], [{ entry: [], next: undefined }, 1])
      const none = await listHostDeliveries(host, { endpoint: 'https://example.com/none', limit })
      assert.deepEqual(none, { entry: [], next: undefined })
    })

    test('retrying ones of a subscription are found among its pending ones', async () => {
      const subscription = number('sub_', 2)
      const { entry } = await listHostDeliveries(server.host, { subscription, state: 'retrying', limit })
      assert.equal(entry.length, limit)
      assert.ok(entry.every((one) => one.failures > 0 && one.state === 'pending' && one.subscription === subscription))
    })

    test('those of one event come in full pages', async () => {
      for (const list of [listHostDeliveries, listHostMessages]) {
        const first = await list(server.host, { event: 'rare', limit })
        const second = await list(server.host, { event: 'rare', cursor: first.next, limit })
        const all = [...first.entry, ...second.entry]
        assert.deepEqual([first.entry.length, second.entry.length, second.next], [limit, limit, undefined])
        assert.deepEqual([...new Set(all.map(({ event }) => event))], ['rare'])
        assert.equal(new Set(all.map(({ id }) => id)).size, deliveries / 1000)
      }
    })

    if (kind === 'postgresql') {
      test('a worker reads fresh deliveries of a subscription without those that it had before, whatever the statistics say', async () => {
        const { host, queries } = record(server.host)
        const { deliveries: read } = await readDeliveries(host.system, {
          catalog: { note: {} },
          settings: defaultSettings,
          positions: [{ lane: 2, after: '', from: '', later: [0, ''] }],
          loaded: [],
          size: limit,
          maxSubscriptions: 10,
          maxLater: 10,
          clock: { monotonic: () => 0 },
        })
        assert.equal(read.filter(({ dueAt }) => dueAt === 0).length, limit)
        assert.equal(queries.length, 2)
        for (const query of queries) await assertCheap(query)
        // After a long queue, the other index often seems cheaper, so it must not fit at all.
        const plans: string[] = []
        const undone = new Error('rolled back')
        const explaining = system.transaction(async (trx) => {
          await sql`drop index waypost_delivery_fresh_index`.execute(trx)
          await sql`set local enable_seqscan = off`.execute(trx)
          for (const { sql: text, parameters } of queries)
            plans.push(JSON.stringify(await trx.executeQuery(CompiledQuery.raw(`explain ${text}`, [...parameters]))))
          throw undone
        })
        await assert.rejects(explaining, (error) => error === undone)
        assert.equal(plans.length, 2)
        assert.doesNotMatch(plans.join(), /Index Cond: \(\(subscription_id = heads/)
      })
    }

    /** Runs the statement again, and checks how many pages of the database it touches and that it sorts only a page. */
    async function assertCheap({ sql: text, parameters, isInIndexOrder }: Recorded): Promise<void> {
      if (kind === 'sqlite') {
        const { rows } = await system.db.executeQuery<{ detail: string }>(
          CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
        )
        const plan = rows.map(({ detail }) => detail).join('\n')
        // Lists of ids are sorted, and small tables of scopes.
        const isSmall =
          /`scope` = 'rare'\) order|in \((\?|'|select value)/i.test(text) &&
          (!/limit/i.test(text) || text.includes("= 'rare')"))
        // The first rows of each lane or subscription are merged.
        const isMerged = / as (lane|heads|chosen)\b| cross join waypost_delivery d /.test(text)
        if (isMerged) assert.doesNotMatch(plan, /SCAN (waypost_|[msx]\b)(?!.*USING)/, `${text}\n${plan}`)
        else if (!isSmall) assert.doesNotMatch(plan, /^SCAN (?!.*USING)|TEMP B-TREE FOR ORDER BY/m, `${text}\n${plan}`)
        return
      }
      const plan = await explainQuery(system, { sql: text, parameters, isInIndexOrder })
      const pages = pagesOf(plan)
      const max = / as chosen/.test(text) ? maxPagesOfLane : maxPages
      assert.ok(pages <= max, `${pages} pages\n${text}\n${JSON.stringify(plan, undefined, 1)}`)
    }
  })
}

/** Returns the host with a System that records its queries. */
function record(host: Host): { host: Host; queries: Recorded[] } {
  const { system, queries } = recordQueries(host.system)
  return { host: { ...host, system }, queries }
}

async function fill({ db, kind }: System): Promise<void> {
  const series = (count: number) =>
    kind === 'sqlite'
      ? sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)}) select i from n) as n`
      : sql`generate_series(1, ${sql.lit(count)}) as n(i)`
  const pad = kind === 'sqlite' ? sql`printf('%020d', i)` : sql`lpad(cast(i as text), 20, '0')`
  const mod = (size: number) =>
    kind === 'sqlite'
      ? sql`printf('%020d', i % ${sql.lit(size)})`
      : sql`lpad(cast(i % ${sql.lit(size)} as text), 20, '0')`
  const soon = sql.lit(Date.now() + 3_600_000)
  const statements = [
    sql`insert into waypost_message (id, event, data, created_at, fanned_out_at)
      select 'msg_' || ${pad}, case when i % 1000 = 0 then 'rare' else 'note' end, '{}', i, i from ${series(deliveries)}`,
    sql`insert into waypost_delivery (id, message_id, subscription_id, lane, status, due_at, scheduled_at, failures, lost, created_at, finished_at)
      select 'dlv_' || ${pad}, 'msg_' || ${pad},
        case when i % 1000 = 0 then 'sub_rare' when i % 1000 = 11 then 'sub_rarely_dead' else 'sub_' || ${mod(10)} end, i % 10,
        case when i % 10 = 1 then 'dead' when i % 10 = 2 then 'pending' when i % 1000 = 7 then 'cancelled' else 'delivered' end,
        case when i % 1000 = 2 then 0 else i end, i,
        case when i % 100 = 2 then 1 else 0 end, 0, i,
        case when i % 10 = 2 then null else i end from ${series(deliveries)}`,
    sql`insert into waypost_user (id, name, status, created_at)
      select 'u' || ${pad}, 'user' || ${pad}, 'active', i from ${series(others)}`,
    sql`insert into waypost_user_scope (user_id, scope) select 'u' || ${pad}, 'consumer' from ${series(others)}`,
    sql`insert into waypost_client (id, name, user_id, grants, redirect_uris, status, created_at)
      select 'c' || ${pad}, 'client' || ${pad}, 'u' || ${pad}, '', '[]', 'active', i from ${series(others)}`,
    sql`insert into waypost_token (jti, user_id, client_id, scope, created_at, expires_at)
      select 't' || ${pad}, 'u' || ${mod(10)}, 'c' || ${mod(1000)}, '', i, ${soon} + i from ${series(others)} where i % 10 > 0`,
    sql`insert into waypost_subscription (id, user_id, event, endpoint, status, revision, secret, lane, created_at)
      select 'sub_' || ${pad}, 'u' || ${pad}, 'note', case when i < 10 then 'https://shop.example/' || (i % 2) else 'https://example.com/' end, 'active', 1, '', i % 64, i from ${series(others)}`,
    sql`insert into waypost_subscription (id, user_id, event, endpoint, status, revision, secret, lane, created_at) values
      ('sub_rare', 'x', 'rare', 'https://rare.example/', 'active', 1, '', 0, 1),
      ('sub_rarely_dead', 'x', 'rarely dead', 'https://rare.example/', 'active', 1, '', 0, 1)`,
    sql`insert into waypost_user_scope (user_id, scope) select 'u' || ${pad}, 'rare' from ${series(others)} where i % 150 = 0`,
    sql`insert into waypost_audit (id, created_at, how, user_name, action, kind, subject_name)
      select 'aud_' || ${pad}, i, 'command', 'user' || (i % 10), case when i % 2 = 0 then 'user.add' else 'user.scopes' end, case when i % 150 = 0 then 'client' else 'user' end, 's' || (i % 20)
      from ${series(others)}`,
    sql`analyze`,
  ]
  for (const statement of statements) await statement.execute(db)
}
