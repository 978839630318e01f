import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from 'waypost/testing'

test('greets by name', async () => {
  await using app = await createTestApp()
  const { status, body } = await app.inject('GET /hello/:name', { params: { name: 'Ann' } })
  assert.equal(status, 200)
  assert.equal(body.hello, 'Ann')
})
