import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { addUserScopes, removeUserScopes } from '../../src/auth/index.ts'
import type { Person } from '../consumer/people.ts'
import { withSubscribers } from './subscribers.ts'

const hour = 3_600_000
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

withSubscribers('deliveries of a subscription', (world) => {
  let ann: Person
  before(async () => {
    ann = await world().come('ann')
  })
  const list = (id: string, query = '') => ann.send(`GET /consumer/subscription/${id}/deliveries${query}`)
  const findOne = (id: string, delivery: string) => ann.send(`GET /consumer/subscription/${id}/deliveries/${delivery}`)
  const replay = (id: string, delivery: string) =>
    ann.send(`POST /consumer/subscription/${id}/deliveries/${delivery}/replay`)
  const replayDead = (id: string, since: unknown) => ann.send(`POST /consumer/subscription/${id}/replay`, { since })
  const show = async (hidden: 0 | 1) => {
    await world().system.db.updateTable('waypost_attempt').set({ hidden }).execute()
    await world().system.db.updateTable('waypost_delivery').set({ hidden }).execute()
  }

  /** Lets a delivery fail four times. */
  async function makeDead(data: unknown): Promise<void> {
    await world().dispatch('todo_created', data)
    for (let run = 0; run < 4; run++) await world().deliverDelayed()
  }

  test('include their state, with each attempt and its response', async () => {
    const receiver = await world().openReceiver()
    receiver.choose = (count) => (response) => response.writeHead(count === 1 ? 503 : 200).end(`answer ${count}`)
    const { id } = await world().subscribe(ann, receiver.url)
    assert.deepEqual((await list(id)).body, { entry: [] })
    await world().dispatch('todo_created', 1)
    await world().deliver()
    await show(0)
    const [first] = (await list(id)).body.entry
    assert.deepEqual(Object.keys(first), [
      'id',
      'event',
      'status',
      'failures',
      'due',
      'created',
      'finished',
      'replayed',
      'attempts',
    ])
    assert.partialDeepStrictEqual(first, {
      event: 'todo_created',
      status: 'pending',
      failures: 1,
      finished: null,
      replayed: null,
    })
    assert.ok(Date.parse(first.due) > world().clock.now() + 30_000)
    assert.match(first.created, iso)
    assert.equal(first.attempts.length, 1)
    const { started, latency_ms: latency, ...attempt } = first.attempts[0]
    assert.match(started, iso)
    assert.ok(latency >= 0)
    assert.deepEqual(attempt, { outcome: 'status 503', status: 503, answer: 'answer 1' })

    await world().deliverDelayed()
    await show(0)
    const [second] = (await list(id)).body.entry
    assert.partialDeepStrictEqual(second, { id: first.id, status: 'delivered', failures: 1, due: null })
    assert.match(second.finished, iso)
    assert.deepEqual(
      second.attempts.map((one: Record<string, unknown>) => [one['outcome'], one['answer']]),
      [
        ['status 503', 'answer 1'],
        ['delivered', 'answer 2'],
      ],
    )
  })

  test('are divided into pages of at most 1 MB', async () => {
    const receiver = await world().openReceiver()
    const { id } = await world().subscribe(ann, receiver.url)
    const count = 60
    for (let index = 0; index < count; index += 1) await world().dispatch('todo_created', index)
    await world().deliver()
    const answer = '\u0001'.repeat(4096) // as JSON, 24 KB
    await world().system.db.updateTable('waypost_delivery').set({ answer, hidden: 0 }).execute()
    const found: string[] = []
    const sizes: number[] = []
    let cursor = ''
    do {
      const { body } = await list(id, `?limit=100${cursor}`)
      assert.ok(JSON.stringify(body).length < 1024 * 1024)
      for (const one of body.entry) found.push(one.id)
      sizes.push(body.entry.length)
      cursor = body.next === undefined ? '' : `&cursor=${body.next}`
    } while (cursor !== '' && sizes.length < 10)
    assert.deepEqual([new Set(found).size, found.length, sizes.length], [count, count, 2])
  })

  test('are shown one by one with the body, of which the first 64 KB', async () => {
    const receiver = await world().openReceiver()
    const { id } = await world().subscribe(ann, receiver.url)
    const long = 'ä'.repeat(70_000)
    for (const data of [{ html: '</script><img src=x>' }, long]) {
      await world().dispatch('todo_created', data)
      await world().deliver()
    }
    const [second, first] = (await list(id)).body.entry
    const answer = await findOne(id, first.id)
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
    assert.deepEqual(answer.body, { ...first, body: '{"html":"</script><img src=x>"}', is_body_truncated: false })
    const cut = (await findOne(id, second.id)).body
    assert.deepEqual([cut.body, cut.is_body_truncated], [JSON.stringify(long).slice(0, 65_536), true])
  })

  test('are shown without a body once the user may not receive the event, or the message was pruned', async () => {
    const reader = await world().come('reader', ['consumer', 'order'])
    const receiver = await world().openReceiver()
    const { id } = await world().subscribe(reader, receiver.url, 'order_paid')
    await world().dispatch('order_paid', { total: 5 })
    await world().deliver()
    const [{ id: delivery }] = (await reader.send(`GET /consumer/subscription/${id}/deliveries`)).body.entry
    const read = async () => (await reader.send(`GET /consumer/subscription/${id}/deliveries/${delivery}`)).body
    assert.equal((await read()).body, '{"total":5}')
    await removeUserScopes(world().system, reader.id, ['order'])
    await world().server.feed.catchUp()
    assert.partialDeepStrictEqual(await read(), { id: delivery, body: null, is_body_truncated: false })
    await addUserScopes(world().system, reader.id, ['order'])
    await world().server.feed.catchUp()
    await world().system.db.deleteFrom('waypost_message').execute()
    assert.partialDeepStrictEqual(await read(), { id: delivery, event: null, body: null })
  })

  test('of another subscription or another user are unknown', async () => {
    const receiver = await world().openReceiver()
    const { id } = await world().subscribe(ann, receiver.url)
    const other = await world().subscribe(ann, `${receiver.url}/other`, 'todo_done')
    const stranger = await world().come('stranger')
    await world().dispatch('todo_created', 1)
    await world().deliver()
    const [{ id: delivery }] = (await list(id)).body.entry
    for (const one of [delivery, 'dlv_none', '%00', 'constructor', 'x'.repeat(400)])
      assert.equal((await findOne(other.id, one)).status, 404, one)
    assert.equal((await findOne(id, delivery)).status, 200)
    const line = `GET /consumer/subscription/${id}/deliveries`
    for (const path of ['', `/${delivery}`]) assert.equal((await stranger.send(line + path)).status, 404)
  })

  test('show only whether they were delivered if only delivery_allow opened the address', async () => {
    const kept = { status: null, latency_ms: null, answer: null, answer_hidden: true }
    const receiver = await world().openReceiver()
    receiver.choose = (count) => (response) => response.writeHead(count === 1 ? 418 : 200).end('from within')
    const { id } = await world().subscribe(ann, receiver.url)
    await world().dispatch('todo_created', 1)
    await world().deliverDelayed()
    await world().deliverDelayed()
    const answer = await list(id)
    const attempts = answer.body.entry[0].attempts.map(({ started, ...rest }: Record<string, string>) => {
      assert.match(started!, iso)
      return rest
    })
    assert.deepEqual(attempts, [
      { outcome: 'failed', ...kept },
      { outcome: 'delivered', ...kept },
    ])
    assert.ok(!/from within|418/.test(JSON.stringify(answer.body.entry[0].attempts)))
  })

  test('are listed by state and in pages, the newest first', async () => {
    const receiver = await world().openReceiver()
    receiver.choose = (count) => (count % 3 === 0 ? 500 : 204)
    const { id } = await world().subscribe(ann, receiver.url)
    const other = await world().subscribe(ann, `${receiver.url}/other`, 'todo_done')
    for (let count = 0; count < 9; count++) {
      await world().dispatch('todo_created', count)
      await world().dispatch('todo_done', count)
      await world().deliver()
    }
    const all = (await list(id)).body.entry.map((one: { id: string }) => one.id)
    assert.equal(all.length, 9)
    assert.deepEqual(all, all.toSorted().toReversed())
    const paged: string[] = []
    let next: string | undefined
    do {
      const { body } = await list(id, `?limit=4${next === undefined ? '' : `&cursor=${next}`}`)
      paged.push(...body.entry.map((one: { id: string }) => one.id))
      next = body.next
    } while (next !== undefined)
    assert.deepEqual(paged, all)
    const states = new Map<string, number>()
    for (const state of ['pending', 'delivered', 'dead', 'cancelled']) {
      const { entry } = (await list(id, `?status=${state}&limit=100`)).body
      assert.ok(entry.every((one: { status: string }) => one.status === state))
      states.set(state, entry.length)
    }
    assert.equal(
      [...states.values()].reduce((sum, count) => sum + count),
      9,
    )
    assert.equal(states.get('dead'), 0)
    assert.equal((await list(other.id, '?limit=100')).body.entry.length, 9)
  })

  const bad = ['?limit=0', '?limit=101', '?limit=x', '?cursor=x', '?cursor=dlv_%00', '?status=lost', '?state=dead']
  for (const query of bad) {
    test(`with ${query} is 400`, async () => {
      const { url } = await world().openReceiver()
      const { id } = await world().subscribe(ann, url)
      assert.equal((await list(id, query)).status, 400)
    })
  }

  test('show no more than ten attempts of one that was replayed often', async () => {
    const receiver = await world().openReceiver(500)
    const { id } = await world().subscribe(ann, receiver.url)
    await makeDead(1)
    const [{ id: delivery }] = (await list(id)).body.entry
    for (let count = 0; count < 2; count++) {
      assert.equal((await replay(id, delivery)).status, 202)
      for (let run = 0; run < 4; run++) await world().deliverDelayed()
    }
    assert.equal(receiver.received.length, 12)
    assert.equal((await list(id)).body.entry[0].attempts.length, 10)
  })

  test('that are dead are resent with the same id, one of them or all since a time', async () => {
    const receiver = await world().openReceiver(500)
    const { id } = await world().subscribe(ann, receiver.url)
    for (const data of ['a', 'b', 'c']) await makeDead(data)
    const { entry } = (await list(id, '?status=dead')).body
    assert.deepEqual(
      entry.map((one: { failures: number }) => one.failures),
      [4, 4, 4],
    )
    receiver.choose = () => 204
    const answer = await replay(id, entry[0].id)
    assert.deepEqual([answer.status, answer.body], [202, { delivery: entry[0].id }])
    await world().deliver()
    assert.equal(receiver.received.at(-1)!.headers['webhook-id'], entry[0].id)
    const [again] = (await list(id, '?status=delivered')).body.entry
    assert.partialDeepStrictEqual(again, { id: entry[0].id, failures: 0 })
    assert.match(again.replayed, iso)

    assert.deepEqual((await replayDead(id, '1h')).body, { replayed: 2, more: false })
    await world().deliver()
    assert.equal((await list(id, '?status=delivered')).body.entry.length, 3)
    assert.deepEqual((await replayDead(id, '1h')).body, { replayed: 0, more: false })
  })

  test('that died before the given time stay dead', async () => {
    const receiver = await world().openReceiver(500)
    const { id } = await world().subscribe(ann, receiver.url)
    await makeDead('early')
    world().clock.forward(hour / 4)
    const since = new Date(world().clock.now()).toISOString()
    await makeDead('late')
    assert.deepEqual((await replayDead(id, since)).body, { replayed: 1, more: false })
    assert.deepEqual((await replayDead(id, '10m')).body, { replayed: 0, more: false })
    assert.equal((await list(id, '?status=dead')).body.entry.length, 1)
  })

  for (const since of ['', 'yesterday', '2026-11-20T14:00:00', '2026-13-01', '\0', 1, null, undefined]) {
    test(`are not replayed since ${JSON.stringify(since)}: 400`, async () => {
      const { url } = await world().openReceiver()
      const { id } = await world().subscribe(ann, url)
      assert.equal((await replayDead(id, since)).status, 400)
    })
  }

  test('that are on their way, or of another subscription, or not there cannot be replayed', async () => {
    const receiver = await world().openReceiver(500)
    const { id } = await world().subscribe(ann, receiver.url)
    const other = await world().subscribe(ann, `${receiver.url}/other`, 'todo_done')
    await world().dispatch('todo_created', 1)
    await world().deliver()
    const [{ id: delivery }] = (await list(id)).body.entry
    assert.equal((await replay(id, delivery)).status, 409)
    for (const one of [delivery, 'dlv_none', '%00', 'constructor']) {
      assert.equal((await replay(other.id, one)).status, 404, one)
    }
  })

  test('to one that is disabled are not replayed until it is active again', async () => {
    const receiver = await world().openReceiver(500)
    const { id } = await world().subscribe(ann, receiver.url)
    await makeDead(1)
    receiver.choose = () => 410
    await world().dispatch('todo_created', 2)
    await world().deliver()
    const dead = (await list(id, '?status=dead')).body.entry
    assert.equal(dead.length, 2)
    assert.equal((await replay(id, dead[0].id)).status, 409)
    assert.equal((await replayDead(id, '1h')).status, 409)
    receiver.choose = () => 204
    await ann.send(`PATCH /consumer/subscription/${id}`, { status: 'active' })
    assert.deepEqual((await replayDead(id, '1h')).body, { replayed: 2, more: false })
    await world().deliver()
    assert.equal((await list(id, '?status=delivered')).body.entry.length, 2)
  })

  test('that wait are cancelled when it is removed, also when there are very many', async () => {
    const { system } = world()
    const receiver = await world().openReceiver(500)
    const { id } = await world().subscribe(ann, receiver.url)
    await world().dispatch('todo_created', 1)
    await world().deliver()
    const row = await system.db.selectFrom('waypost_delivery').selectAll().executeTakeFirstOrThrow()
    for (let chunk = 0; chunk < 7; chunk++) {
      const ids = Array.from({ length: 300 }, (_, index) => String(chunk * 300 + index))
      const rows = ids.map((one) => ({ ...row, id: `dlv_${one}`, message_id: `msg_${one}` }))
      await system.db.insertInto('waypost_delivery').values(rows).execute()
    }
    assert.equal((await ann.send(`DELETE /consumer/subscription/${id}`)).status, 204)
    const rows = await system.db.selectFrom('waypost_delivery').select(['status', 'finished_at']).execute()
    assert.equal(rows.length, 2101)
    assert.ok(rows.every(({ status, finished_at: at }) => status === 'cancelled' && at !== null))
  })
})

withSubscribers('a list of subscriptions', (world) => {
  test('comes in pages, the oldest first', async () => {
    const ann = await world().come('ann')
    const { url } = await world().openReceiver()
    const made: string[] = []
    for (let count = 0; count < 7; count++) made.push((await world().subscribe(ann, `${url}/${count}`)).id)
    const all = (await ann.send('GET /consumer/subscription')).body
    assert.deepEqual(Object.keys(all), ['entry'])
    assert.deepEqual(
      all.entry.map((one: { id: string }) => one.id),
      made.toSorted(),
    )
    const first = (await ann.send('GET /consumer/subscription?limit=4')).body
    assert.equal(first.next, first.entry[3].id)
    const second = (await ann.send(`GET /consumer/subscription?limit=4&cursor=${first.next}`)).body
    assert.deepEqual([...first.entry, ...second.entry], all.entry)
    assert.equal(second.next, undefined)
    for (const query of ['?limit=0', '?cursor=dlv_1', '?cursor=%00', '?page=2']) {
      assert.equal((await ann.send(`GET /consumer/subscription${query}`)).status, 400, query)
    }
  })
})
