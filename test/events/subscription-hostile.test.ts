import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, wildText } from '../support/property.ts'
import { withSubscribers } from './subscribers.ts'

const text = wildText({ maxLength: 20 })
const anyValue = fc.oneof(
  text,
  fc.constantFrom('active', 'paused', '24h', '999999999d', '0s', '2026-11-20T14:00:00Z', '-1', 'http://127.0.0.1:1/x'),
  fc.constantFrom(
    'http://[::1',
    'http://127.0.0.1:99999/',
    'http://0x7f.1/',
    'http://127.0.0.1/\u0000',
    'x'.repeat(3000),
  ),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.json().map((json) => JSON.parse(json) as unknown),
)
const bodies: Readonly<Record<string, readonly string[]>> = {
  'PATCH /consumer/subscription/ID': ['endpoint', 'status', 'event', 'secret', 'user_id'],
  'POST /consumer/subscription/ID/secret': ['overlap', 'secret'],
  'POST /consumer/subscription/ID/test': ['event', 'data'],
  'POST /consumer/subscription/ID/replay': ['since', 'limit'],
  'POST /consumer/subscription/ID/deliveries/dlv_1/replay': ['since'],
}

withSubscribers('hostile requests about a subscription', (world) => {
  for (const [line, names] of Object.entries(bodies)) {
    test(`of any body to ${line} end in no error of the server`, async () => {
      const ann = await world().come('ann')
      const receiver = await world().openReceiver()
      const { id } = await world().subscribe(ann, receiver.url)
      const record = fc.record(Object.fromEntries(names.map((name) => [name, anyValue])), { requiredKeys: [] })
      await fc.assert(
        fc.asyncProperty(fc.oneof(record, anyValue), async (body) => {
          await world().system.db.deleteFrom('waypost_throttle').execute()
          const answer = await ann.send(line.replace('ID', id), body)
          assert.ok(answer.status < 500, `${answer.status} ${answer.text} after ${JSON.stringify(body)}`)
          assert.equal(answer.headers.get('cache-control'), 'no-store')
          if (answer.status >= 400) assert.equal(answer.headers.get('content-type'), 'application/problem+json')
        }),
        { numRuns: 20 },
      )
      const row = await world().system.db.selectFrom('waypost_subscription').selectAll().executeTakeFirstOrThrow()
      assert.partialDeepStrictEqual(row, { id, user_id: ann.id, event: 'todo_created' })
    })
  }

  test('of any query to its lists end in no error of the server', async () => {
    const ann = await world().come('ann')
    const { url } = await world().openReceiver()
    const { id } = await world().subscribe(ann, url)
    const name = fc.constantFrom('limit', 'cursor', 'status', '__proto__')
    const value = fc.oneof(
      text.map((one) => encodeURIComponent(one.toWellFormed())),
      fc.constantFrom('1', '100', 'dead', 'dlv_0', 'sub_0', '%00', '%zz', "' or 1=1 --"),
    )
    const query = fc.array(fc.tuple(name, value), { maxLength: 4 })
    const path = fc.constantFrom('/consumer/subscription', `/consumer/subscription/${id}/deliveries`)
    await fc.assert(
      fc.asyncProperty(path, query, async (where, pairs) => {
        const answer = await ann.send(`GET ${where}?${pairs.map((pair) => pair.join('=')).join('&')}`)
        assert.ok([200, 400].includes(answer.status), `${answer.status} ${answer.text}`)
      }),
      { numRuns: 40 },
    )
  })

  test('leave no line in the log', () => assert.deepEqual(world().log, []))
})
