import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { resealAll, makeSecrets } from '../../src/store/index.ts'
import type { Person } from '../consumer/people.ts'
import type { Received } from './receiver.ts'
import { withSubscribers } from './subscribers.ts'

const hour = 3_600_000

withSubscribers('the secret of a subscription', (world) => {
  let ann: Person
  before(async () => {
    ann = await world().come('ann')
  })
  const rotate = (id: string, body?: unknown) => ann.send(`POST /consumer/subscription/${id}/secret`, body)

  /** A delivery that is signed now. */
  async function receive(url: { received: readonly Received[] }): Promise<Received> {
    await world().dispatch('todo_created', { title: 'milk' })
    await world().deliver()
    return url.received.at(-1)!
  }

  test('that was replaced signs beside the new one for a day only', async () => {
    const receiver = await world().openReceiver()
    const { id, secret: old } = await world().subscribe(ann, receiver.url)
    const began = world().clock.now()
    const answer = await rotate(id)
    assert.equal(answer.status, 200, answer.text)
    const { secret: fresh, ...rest } = answer.body
    const until = rest.previous_secret_until
    const find = async () => (await ann.send(`GET /consumer/subscription/${id}`)).body
    assert.deepEqual(rest, await find())
    assert.match(fresh, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.ok(Date.parse(until) >= began + 24 * hour && Date.parse(until) <= world().clock.now() + 24 * hour)

    const during = await receive(receiver)
    assert.equal(signaturesOf(during).length, 2)
    for (const secret of [fresh, old]) verify(during, secret)
    verify({ ...during, headers: { ...during.headers, 'webhook-signature': signaturesOf(during)[0] } }, fresh)
    world().clock.forward(25 * hour)
    const after = await receive(receiver)
    assert.equal(signaturesOf(after).length, 1)
    assert.equal((await find()).previous_secret_until, undefined)
    verify(after, fresh)
    assert.throws(() => verify(after, old), WebhookVerificationError)
    world().clock.forward(-25 * hour)
  })

  test('is returned once, appears in no other response, and is stored encrypted', async () => {
    const receiver = await world().openReceiver()
    const { id, secret: old } = await world().subscribe(ann, receiver.url)
    const { secret: fresh } = (await rotate(id)).body
    const texts = [
      await ann.send(`GET /consumer/subscription/${id}`),
      await ann.send('GET /consumer/subscription'),
      await ann.send(`PATCH /consumer/subscription/${id}`, { status: 'active' }),
    ].map(({ text }) => text)
    const rows = await world().system.db.selectFrom('waypost_subscription').selectAll().execute()
    const everything = [...texts, JSON.stringify(rows), ...world().log].join('\n')
    for (const secret of [old, fresh]) assert.ok(!everything.includes(secret.slice(6)), everything)
  })

  test('with an overlap of 0s replaces all before it at once', async () => {
    const receiver = await world().openReceiver()
    const { id, secret: old } = await world().subscribe(ann, receiver.url)
    await rotate(id, { overlap: '7d' })
    const { body } = await rotate(id, { overlap: '0s' })
    assert.equal(body.previous_secret_until, null)
    const post = await receive(receiver)
    assert.equal(signaturesOf(post).length, 1)
    verify(post, body.secret)
    assert.throws(() => verify(post, old), WebhookVerificationError)
  })

  test('replaced again during an overlap keeps the first one too, so a request whose response was lost can be repeated', async () => {
    const receiver = await world().openReceiver()
    const { id, secret } = await world().subscribe(ann, receiver.url)
    const secrets = [secret]
    for (let count = 0; count < 2; count++) secrets.push((await rotate(id, { overlap: '2d' })).body.secret)
    const post = await receive(receiver)
    for (const one of secrets) verify(post, one)
  })

  test('is not replaced a fifth time within the overlaps: none of them ends early, and the header stays short', async () => {
    const receiver = await world().openReceiver()
    const { id, secret } = await world().subscribe(ann, receiver.url)
    const secrets = [secret]
    for (let count = 0; count < 4; count++) secrets.push((await rotate(id, { overlap: '2d' })).body.secret)
    const refused = await rotate(id)
    assert.equal(refused.status, 409)
    assert.match(refused.body.detail, /already has 4 old secrets that are still in use/)
    const post = await receive(receiver)
    assert.equal(signaturesOf(post).length, 5)
    for (const one of secrets) verify(post, one)

    const { status, body } = await rotate(id, { overlap: '0s' })
    assert.equal(status, 200, 'one that is known to others is replaced all the same')
    const after = await receive(receiver)
    assert.equal(signaturesOf(after).length, 1)
    verify(after, body.secret)
  })

  test('replaced by two at once leaves both signing', async () => {
    const receiver = await world().openReceiver()
    const { id, secret } = await world().subscribe(ann, receiver.url)
    const answers = await Promise.all([rotate(id), rotate(id)])
    const post = await receive(receiver)
    for (const one of [secret, ...answers.map(({ body }) => body.secret)]) verify(post, one)
  })

  const bad: readonly unknown[] = [
    { overlap: '8d' },
    { overlap: 'soon' },
    { overlap: '-1h' },
    { overlap: 24 },
    { overlap: '' },
    { secret: 'whsec_mine' },
    [],
  ]
  for (const body of bad) {
    test(`with ${JSON.stringify(body)} returns 400 and changes nothing`, async () => {
      const { url } = await world().openReceiver()
      const { id } = await world().subscribe(ann, url)
      const select = () => world().system.db.selectFrom('waypost_subscription').select(['secret', 'previous_secrets'])
      const before = await select().execute()
      const answer = await rotate(id, body)
      assert.equal(answer.status, 400, answer.text)
      assert.deepEqual(await select().execute(), before)
    })
  }

  test('and those before it are sealed again when WAYPOST_SECRET changes', async () => {
    const { system, server } = world()
    const receiver = await world().openReceiver()
    const { id } = await world().subscribe(ann, receiver.url)
    await rotate(id)
    const fresh = 'a fresh secret that is long enough'
    const both = makeSecrets(`${fresh},${server.host.variables['WAYPOST_SECRET']}`)
    const counts = await system.transaction((trx) => resealAll(system, { trx, secrets: both }))
    assert.equal(counts.waypost_subscription, 2)
    const row = await system.db.selectFrom('waypost_subscription').selectAll().executeTakeFirstOrThrow()
    const place = { table: 'waypost_subscription', row: id } as const
    const newest = makeSecrets(fresh)
    newest.unseal(row.secret, { ...place, column: 'secret' })
    newest.unseal(row.previous_secrets!, { ...place, column: 'previous_secrets' })
    const back = makeSecrets(`${server.host.variables['WAYPOST_SECRET']},${fresh}`)
    await system.transaction((trx) => resealAll(system, { trx, secrets: back }))
  })
})

withSubscribers('a test event', (world) => {
  let ann: Person
  before(async () => {
    ann = await world().come('ann')
  })
  const sendTest = (id: string) => ann.send(`POST /consumer/subscription/${id}/test`)

  test('is signed, goes to that subscription only, and identifies itself', async () => {
    const receiver = await world().openReceiver()
    const other = await world().openReceiver()
    const { id, secret } = await world().subscribe(ann, receiver.url)
    await world().subscribe(ann, other.url)
    const answer = await sendTest(id)
    assert.equal(answer.status, 202, answer.text)
    await world().deliver()
    const [post] = receiver.received
    assert.deepEqual(answer.body, { delivery: post!.headers['webhook-id'] })
    assert.equal(post!.headers['waypost-event'], 'waypost.test')
    const { sent, ...rest } = verify(post!, secret) as Record<string, string>
    assert.deepEqual(rest, { subscription: id, event: 'todo_created' })
    assert.ok(Math.abs(Date.parse(sent!) - world().clock.now()) < 60_000)
    assert.equal(receiver.received.length + other.received.length, 1)
  })

  test('is resent like any other, and is one of its deliveries', async () => {
    const receiver = await world().openReceiver()
    receiver.choose = (count) => (count < 3 ? 500 : 204)
    const { id } = await world().subscribe(ann, receiver.url)
    const { delivery } = (await sendTest(id)).body
    for (let run = 0; run < 4; run++) await world().deliverDelayed()
    assert.equal(receiver.received.length, 3)
    const { entry } = (await ann.send(`GET /consumer/subscription/${id}/deliveries`)).body
    assert.partialDeepStrictEqual(entry, [{ id: delivery, event: 'waypost.test', status: 'delivered', failures: 2 }])
  })

  test('is sent immediately, even if the breaker holds others back', async () => {
    const receiver = await world().openReceiver()
    const { id } = await world().subscribe(ann, receiver.url)
    const later = world().clock.now() + hour
    await world().system.db.updateTable('waypost_subscription').set({ failures: 9, open_until: later }).execute()
    await sendTest(id)
    await world().deliver()
    assert.equal(receiver.received.length, 1)
  })

  test('to an event with scopes reaches users who have one of them, and is cancelled for users who lost it', async () => {
    const eve = await world().come('eve', ['consumer', 'order'])
    const receiver = await world().openReceiver()
    const { id } = await world().subscribe(eve, receiver.url, 'order_paid')
    const send = () => eve.send(`POST /consumer/subscription/${id}/test`)
    assert.equal((await send()).status, 202)
    await world().deliver()
    assert.equal(receiver.received.length, 1)
    await world().system.db.deleteFrom('waypost_user_scope').where('scope', '=', 'order').execute()
    await send()
    await world().deliver()
    assert.equal(receiver.received.length, 1)
    const { entry } = (await eve.send(`GET /consumer/subscription/${id}/deliveries?status=cancelled`)).body
    assert.equal(entry.length, 1)
  })

  for (const status of ['paused', 'disabled'] as const) {
    test(`to one that is ${status} is 409`, async () => {
      const { url } = await world().openReceiver()
      const { id } = await world().subscribe(ann, url)
      await world().system.db.updateTable('waypost_subscription').set({ status }).execute()
      const answer = await sendTest(id)
      assert.equal(answer.status, 409)
      assert.match(answer.body.detail, new RegExp(`is ${status}`))
    })
  }

  test('of an event that no longer exists returns 400, since no delivery would be made', async () => {
    const { url } = await world().openReceiver()
    const { id } = await world().subscribe(ann, url)
    await world().system.db.updateTable('waypost_subscription').set({ event: 'todo_created2' }).execute()
    const answer = await sendTest(id)
    assert.equal(answer.status, 400)
    assert.match(JSON.stringify(answer.body), /Did you mean \\"todo_created\\"/)
  })

  test('is throttled with replays, for each user and minute', async () => {
    const receiver = await world().openReceiver()
    const { id } = await world().subscribe(ann, receiver.url)
    const answers = []
    for (let count = 0; count < 31; count++) answers.push(await sendTest(id))
    assert.deepEqual(answers.map(({ status }) => status).indexOf(429), 30)
    const { headers, body } = answers.at(-1)!
    assert.ok(Number(headers.get('retry-after')) <= 60, String(headers.get('retry-after')))
    assert.match(body.detail, /More than 30 test events and replays/)
    assert.equal((await ann.send(`POST /consumer/subscription/${id}/replay`, { since: '1h' })).status, 429)
    const bob = await world().come('bob')
    const { id: his } = await world().subscribe(bob, receiver.url)
    assert.equal((await bob.send(`POST /consumer/subscription/${his}/test`)).status, 202)
    world().clock.forward(61_000)
    assert.equal((await sendTest(id)).status, 202)
  })
})

function verify({ body, headers }: Pick<Received, 'body' | 'headers'>, secret: string): unknown {
  // Its own clock is not turned.
  const seconds = Number(headers['webhook-timestamp'])
  const now = Date.now
  Date.now = () => seconds * 1000
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>)
  } finally {
    Date.now = now
  }
}

function signaturesOf({ headers }: Received): readonly string[] {
  return String(headers['webhook-signature']).split(' ')
}
