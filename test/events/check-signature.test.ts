import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { findSignatureProblem } from '../../src/events/index.ts'

const secret = `whsec_${Buffer.from('a key of some length').toString('base64')}`
const other = `whsec_${Buffer.from('another key').toString('base64')}`
const now = Date.UTC(2026, 10, 21)
const timestamp = String(now / 1000)
const body = '{"title":"Käse"}'
const sign = (key: string) => new Webhook(key).sign('dlv_1', new Date(now), body)
const post = { id: 'dlv_1', timestamp, signature: sign(secret), body }

test('accepts signatures by standardwebhooks, also as one of two', () => {
  assert.equal(findSignatureProblem(post, secret, now), undefined)
  assert.equal(findSignatureProblem({ ...post, signature: `${sign(other)} ${sign(secret)}` }, secret, now), undefined)
  assert.equal(findSignatureProblem(post, secret, now + 299_000), undefined)
})

test('explains why another signature is invalid', () => {
  for (const [change, problem] of [
    [{ body: `${body} ` }, 'wrong'],
    [{ id: 'dlv_2' }, 'wrong'],
    [{ signature: sign(other) }, 'wrong'],
    [{ signature: '' }, 'wrong'],
    [{ signature: undefined }, 'missing'],
    [{ timestamp: 'soon' }, 'missing'],
    [{ timestamp: String(now / 1000 - 301) }, 'more than 5 minutes old or in the future'],
  ] as const) {
    assert.equal(findSignatureProblem({ ...post, ...change }, secret, now), problem, JSON.stringify(change))
  }
})
