import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { loginClientId } from '../../src/auth/index.ts'
import type { Person } from '../consumer/people.ts'
import { withSubscribers, type Subscribers } from './subscribers.ts'

withSubscribers('a change of a subscription', (world) => {
  let ann: Person
  let bob: Person
  before(async () => {
    ann = await world().come('ann')
    bob = await world().come('bob')
  })
  const patch = (id: string, change: unknown, person = ann) => person.send(`PATCH /consumer/subscription/${id}`, change)

  test('sends pending and later messages to the new endpoint only', async () => {
    const before = await world().openReceiver(500)
    const after = await world().openReceiver()
    const { id } = await world().subscribe(ann, before.url)
    await world().dispatch('todo_created', 1)
    await world().deliver()
    const answer = await patch(id, { endpoint: after.url })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.body, {
      id,
      event: 'todo_created',
      endpoint: after.url,
      status: 'active',
      client: { id: loginClientId, name: 'login' },
      created: answer.body.created,
    })
    assert.deepEqual((await ann.send(`GET /consumer/subscription/${id}`)).body, answer.body)
    await world().dispatch('todo_created', 2)
    await world().deliverDelayed()
    assert.equal(before.received.length, 1)
    assert.deepEqual(after.received.map(({ body }) => body).toSorted(), ['1', '2'])
    assert.equal(await revisionOf(world(), id), 2)
  })

  test('to the endpoint that it has counts no revision', async () => {
    const { url } = await world().openReceiver()
    const { id } = await world().subscribe(ann, url)
    assert.equal((await patch(id, { endpoint: url, status: 'active' })).status, 200)
    assert.equal(await revisionOf(world(), id), 1)
  })

  const refused: readonly (readonly [name: string, change: unknown, status: number])[] = [
    ['nothing', {}, 400],
    ['no object', [], 400],
    ['another event', { event: 'todo_done' }, 400],
    ['a status that only we set', { status: 'disabled' }, 400],
    ['a status that there is not', { status: 'on' }, 400],
    ['no address', { endpoint: 'nowhere' }, 400],
    ['a private address', { endpoint: 'http://10.0.0.1/' }, 400],
    ['a metadata service', { endpoint: 'http://169.254.169.254/latest' }, 400],
    ['NUL in it', { endpoint: 'http://127.0.0.1/\0' }, 400],
    ['a private address, and a pause', { endpoint: 'http://10.0.0.1/', status: 'paused' }, 400],
  ]
  for (const [name, change, status] of refused) {
    test(`to ${name} returns ${status} and changes nothing`, async () => {
      const { url } = await world().openReceiver()
      const { id } = await world().subscribe(ann, url)
      const before = (await ann.send(`GET /consumer/subscription/${id}`)).body
      const answer = await patch(id, change)
      assert.equal(answer.status, status, answer.text)
      assert.deepEqual((await ann.send(`GET /consumer/subscription/${id}`)).body, before)
    })
  }

  test('to the endpoint of another subscription to the same event is rejected, also of two concurrent ones', async () => {
    const { url } = await world().openReceiver()
    const [one, two, three] = await Promise.all(['a', 'b', 'c'].map((path) => world().subscribe(ann, `${url}/${path}`)))
    const answer = await patch(one!.id, { endpoint: `${url}/b` })
    assert.equal(answer.status, 409, answer.text)
    assert.match(answer.body.detail, new RegExp(two!.id))
    const both = await Promise.all([one!, three!].map(({ id }) => patch(id, { endpoint: `${url}/free` })))
    assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([200, 409]))
    const elsewhere = await world().subscribe(ann, `${url}/b`, 'todo_done')
    assert.match(elsewhere.id, /^sub_/)
  })

  test('to paused keeps pending deliveries; events dispatched during the pause are not delivered', async () => {
    const receiver = await world().openReceiver(500)
    const { id } = await world().subscribe(ann, receiver.url)
    await world().dispatch('todo_created', 'before')
    await world().deliver()
    assert.equal((await patch(id, { status: 'paused' })).body.status, 'paused')
    await sleep(2) // what is dispatched in the same millisecond may be for it
    await world().dispatch('todo_created', 'meanwhile')
    await world().deliverDelayed()
    assert.equal(receiver.received.length, 1)
    receiver.choose = () => 204
    assert.equal((await patch(id, { status: 'active' })).body.status, 'active')
    await world().dispatch('todo_created', 'after')
    await world().deliverDelayed()
    assert.deepEqual(receiver.received.map(({ body }) => body).toSorted(), ['"after"', '"before"', '"before"'])
  })

  test('to paused also keeps messages that were dispatched before but not fanned out', async () => {
    const receiver = await world().openReceiver()
    const { id } = await world().subscribe(ann, receiver.url)
    await world().dispatch('todo_created', 'before')
    assert.equal((await patch(id, { status: 'paused' })).status, 200)
    assert.equal((await patch(id, { status: 'paused' })).status, 200)
    await sleep(2)
    await world().dispatch('todo_created', 'meanwhile')
    await world().deliver()
    assert.equal(receiver.received.length, 0)
    assert.equal((await patch(id, { status: 'active' })).status, 200)
    await world().deliverDelayed()
    assert.deepEqual(
      receiver.received.map(({ body }) => body),
      ['"before"'],
    )
  })

  test('to active closes the breaker, and so does another endpoint; a pause leaves it', async () => {
    const { url } = await world().openReceiver()
    const { id } = await world().subscribe(ann, url)
    const open = () =>
      world().system.db.updateTable('waypost_subscription').set({ failures: 9, open_until: 9e12 }).execute()
    await open()
    assert.equal((await patch(id, { status: 'paused' })).body.postponed_until, new Date(9e12).toISOString())
    assert.equal((await patch(id, { status: 'active' })).body.postponed_until, undefined)
    await open()
    assert.equal((await patch(id, { status: 'active' })).body.postponed_until, new Date(9e12).toISOString())
    assert.equal((await patch(id, { endpoint: `${url}/other` })).body.postponed_until, undefined)
    const row = await world().system.db.selectFrom('waypost_subscription').selectAll().executeTakeFirstOrThrow()
    assert.equal(row.failures, 0)
  })

  test('to active restores one that its receiver disabled by 410', async () => {
    const receiver = await world().openReceiver(410)
    const { id } = await world().subscribe(ann, receiver.url)
    await world().dispatch('todo_created', 1)
    await world().deliver()
    assert.equal((await ann.send(`GET /consumer/subscription/${id}`)).body.status, 'disabled')
    receiver.choose = () => 204
    assert.equal((await patch(id, { status: 'active' })).body.status, 'active')
    await world().dispatch('todo_created', 2)
    await world().deliver()
    assert.deepEqual(
      receiver.received.map(({ body }) => body),
      ['1', '2'],
    )
  })

  test('while a POST is under way: its 410 is of the endpoint before, and the new one gets the resend', async () => {
    const after = await world().openReceiver()
    const before = await world().openReceiver((response) => {
      void patch(id, { endpoint: after.url }).then(() => response.writeHead(410).end())
    })
    const { id } = await world().subscribe(ann, before.url)
    await world().dispatch('todo_created', 1)
    await world().deliver()
    await world().deliverDelayed()
    assert.deepEqual([before.received.length, after.received.length], [1, 1])
    assert.equal((await ann.send(`GET /consumer/subscription/${id}`)).body.status, 'active')
  })

  test('and its immediate removal leave no delivery pending', async () => {
    const receiver = await world().openReceiver(500)
    const { id } = await world().subscribe(ann, receiver.url)
    await world().dispatch('todo_created', 1)
    await world().deliver()
    const [changed, removed] = await Promise.all([
      patch(id, { endpoint: `${receiver.url}/other` }),
      ann.send(`DELETE /consumer/subscription/${id}`),
    ])
    assert.ok([200, 404].includes(changed.status), changed.text)
    assert.equal(removed.status, 204)
    await world().deliverDelayed()
    assert.equal(receiver.received.length, 1)
    const rows = await world().system.db.selectFrom('waypost_delivery').select('status').execute()
    assert.deepEqual(rows, [{ status: 'cancelled' }])
  })

  test('is not possible for other users', async () => {
    const { url } = await world().openReceiver()
    const { id } = await world().subscribe(ann, url)
    for (const line of linesOf(id)) {
      const theirs = await bob.send(line, bodyOf(line))
      const none = await bob.send(line.replace(id, 'sub_none'), bodyOf(line))
      assert.equal(theirs.status, 404, `${line} ${theirs.text}`)
      assert.deepEqual(theirs.body, { ...none.body, detail: none.body.detail.replace('sub_none', id) })
    }
    assert.equal((await ann.send(`GET /consumer/subscription/${id}`)).status, 200)
  })

  test('needs the scope consumer', async () => {
    const { url } = await world().openReceiver()
    const { id } = await world().subscribe(ann, url)
    const narrow = await world().narrow(await world().come('ann'), 'todo')
    for (const line of linesOf(id)) assert.equal((await narrow(line, bodyOf(line))).status, 403, line)
  })
})

function linesOf(id: string): readonly string[] {
  const one = `/consumer/subscription/${id}`
  return [
    `GET ${one}`,
    `PATCH ${one}`,
    `POST ${one}/secret`,
    `POST ${one}/test`,
    `GET ${one}/deliveries`,
    `POST ${one}/replay`,
    `POST ${one}/deliveries/dlv_1/replay`,
    `DELETE ${one}`,
  ]
}

function bodyOf(line: string): unknown {
  if (line.startsWith('PATCH')) return { status: 'paused' }
  return /POST .*\/[^/]*\/replay$/.test(line) && !line.includes('deliveries') ? { since: '1h' } : undefined
}

async function revisionOf({ system }: Subscribers, id: string): Promise<number> {
  const query = system.db.selectFrom('waypost_subscription').select('revision').where('id', '=', id)
  return (await query.executeTakeFirstOrThrow()).revision
}
