import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeScope } from '../../src/auth/authorize/consent.ts'

test('a release describes its own scopes, and none of administration', () => {
  const scopes = { todo: { description: 'See your to-dos' }, 'backend.deploy': { description: 'See your name' } }
  assert.equal(describeScope(scopes, 'todo'), 'See your to-dos')
  assert.equal(describeScope(scopes, 'backend.deploy'), 'Full control of this server')
  assert.equal(describeScope(scopes, 'constructor'), undefined)
})
