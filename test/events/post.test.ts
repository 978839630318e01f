import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { keyOf, makeWebhookSecret, signatureHeaders } from '../../src/events/signing/signature.ts'
import type { Received } from './receiver.ts'
import { onAnyDatabase } from './world.ts'

const bodies: readonly { name: string; data: unknown; body: string }[] = [
  {
    name: 'an object, in its order',
    data: { z: 1, a: [true, null], 10: 'ten' },
    body: '{"10":"ten","z":1,"a":[true,null]}',
  },
  { name: 'a text', data: 'hello', body: '"hello"' },
  { name: 'null', data: null, body: 'null' },
  { name: 'zero', data: 0, body: '0' },
  { name: 'a date', data: { at: new Date(0) }, body: '{"at":"1970-01-01T00:00:00.000Z"}' },
  { name: 'all kinds of characters', data: 'ä→😀 "\\\n\u2028', body: '"ä→😀 \\"\\\\\\n\u2028"' },
  { name: 'NUL and half a pair', data: 'a\0b\ud800', body: String.raw`"a\u0000b\ud800"` },
  { name: 'numbers as they are written', data: [1e21, 0.1, -0], body: '[1e+21,0.1,0]' },
]

onAnyDatabase('a POST', (world) => {
  for (const { name, data, body } of bodies) {
    test(`has exactly the dispatched body: ${name}`, async () => {
      const receiver = await world().openReceiver()
      await world().subscribe(await world().addUser(), 'note', receiver.url)
      await world().dispatch('note', data)
      await world().execute()
      assert.equal(receiver.received[0]!.body, body)
      assert.equal(receiver.received[0]!.headers['content-length'], String(Buffer.byteLength(body)))
    })
  }

  test('identifies its content, sender and event', async () => {
    const receiver = await world().openReceiver()
    await world().subscribe(await world().addUser(), 'note', `${receiver.url}/hook?key=1`)
    await world().dispatch('note', {})
    await world().execute()
    const { method, path, headers } = receiver.received[0]!
    assert.equal(method, 'POST')
    assert.equal(path, '/hook?key=1')
    assert.equal(headers['content-type'], 'application/json')
    assert.match(headers['user-agent'] ?? '', /^waypost\/\d+\.\d+\.\d+@\w+$/)
    assert.equal(headers['waypost-event'], 'note')
    const [delivery] = await world().deliveries()
    assert.equal(headers['webhook-id'], delivery!.id)
  })

  test('is signed as standardwebhooks accepts it, with the same id for all attempts', async () => {
    world().settings = { ...world().settings, delivery_delays: [20, 20, 20] }
    const receiver = await world().openReceiver(500)
    const { secret } = await world().subscribe(await world().addUser(), 'note', receiver.url)
    await world().dispatch('note', { text: 'signed' })
    while (receiver.received.length < 4) {
      await world().execute()
      await sleep(10)
    }
    for (const one of receiver.received) assert.deepEqual(verify(secret, one), { text: 'signed' })
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
    assert.throws(() => verify(makeWebhookSecret(), receiver.received[0]!))
    assert.throws(() => verify(secret, { ...receiver.received[0]!, body: '{"text":"forged"}' }))
  })

  test('is signed for its own subscription, and its timestamp is that of the database', async () => {
    const receivers = [await world().openReceiver(), await world().openReceiver()] as const
    const user = await world().addUser()
    const secrets: string[] = []
    for (const { url } of receivers) secrets.push((await world().subscribe(user, 'note', url)).secret)
    world().clock.forward(120_000)
    const before = Math.floor(world().clock.now() / 1000)
    await world().dispatch('note', 1)
    await world().execute()
    for (const [index, receiver] of receivers.entries()) {
      const one = receiver.received[0]!
      assert.equal(verify(secrets[index]!, one), 1)
      assert.throws(() => verify(secrets[1 - index]!, one))
      const sentAt = Number(one.headers['webhook-timestamp'])
      assert.ok(sentAt >= before && sentAt <= world().clock.now() / 1000, String(sentAt))
    }
    world().clock.forward(-120_000)
  })
})

test('while a secret rotates either of the two is accepted', () => {
  const both = [makeWebhookSecret(), makeWebhookSecret()] as const
  const headers = signatureHeaders({ id: 'dlv_1', body: '{}', keys: both.map(keyOf), nowMs: Date.now() })
  for (const secret of both) assert.deepEqual(new Webhook(secret).verify('{}', headers), {})
  assert.match(headers['webhook-signature'], /^v1,\S+ v1,\S+$/)
})

function verify(secret: string, { body, headers }: Received): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>)
}
