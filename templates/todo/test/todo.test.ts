import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from 'waypost/testing'

const milk = { title: 'Buy milk', content: 'Two bottles' }

test('a created to-do is listed, and its event is delivered', async () => {
  await using app = await createTestApp()
  const created = await app.as('ann', ['todo']).inject('POST /todo', { body: milk })
  assert.equal(created.status, 201)

  const list = await app.inject('GET /todo')
  assert.equal(list.body.entry[0]?.title, 'Buy milk')
  assert.equal(app.events.delivered('todo_created')[0]?.title, 'Buy milk')
})

test('creating a to-do requires a token with the scope todo', async () => {
  await using app = await createTestApp()
  assert.equal((await app.inject('POST /todo', { body: milk })).status, 401)
  assert.equal((await app.as('ann', ['consumer']).inject('POST /todo', { body: milk })).status, 403)
})

test('an unknown to-do returns 404, a missing title 400', async () => {
  await using app = await createTestApp()
  assert.equal((await app.inject('GET /todo/:todo_id', { params: { todo_id: 7 } })).status, 404)
  const bad = await app.as('ann', ['todo']).inject('POST /todo', { body: { content: 'x' } as never })
  assert.equal(bad.status, 400)
})
