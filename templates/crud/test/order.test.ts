import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from 'waypost/testing'

test('a created order is listed for its owner, and for no other user', async () => {
  await using app = await createTestApp()
  const ann = app.as('ann', ['order'])
  const created = await ann.inject('POST /order', { body: { item: 'Milk', quantity: 2 } })
  assert.equal(created.status, 201)
  assert.equal((await ann.inject('GET /order')).body.entry[0]?.item, 'Milk')
  assert.deepEqual((await app.as('bob', ['order']).inject('GET /order')).body.entry, [])
  assert.equal(app.events.delivered('order_created').length, 1)
})

test('an order changes only if its version is the expected one', async () => {
  await using app = await createTestApp()
  const ann = app.as('ann', ['order'])
  const { id } = (await ann.inject('POST /order', { body: { item: 'Milk' } })).body
  const change = (quantity: number) =>
    ann.inject('PATCH /order/:id', { params: { id }, body: { quantity }, headers: { 'if-match': '"1"' } })
  assert.equal((await change(3)).status, 200)
  assert.equal((await change(4)).status, 412)
})

test('a wrong quantity is rejected, and a deleted order is gone', async () => {
  await using app = await createTestApp()
  const ann = app.as('ann', ['order'])
  const bad = await ann.inject('POST /order', { body: { item: 'Milk', quantity: 'two' } as never })
  assert.equal(bad.status, 400)
  const { id } = (await ann.inject('POST /order', { body: { item: 'Milk' } })).body
  assert.equal((await ann.inject('DELETE /order/:id', { params: { id } })).status, 204)
  assert.equal((await ann.inject('GET /order/:id', { params: { id } })).status, 404)
})
