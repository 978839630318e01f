import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { test } from 'node:test'
import type { Lookup } from '../../src/outbound/resolve-names.ts'
import { shareLookups } from '../../src/outbound/resolve-names.ts'

/** A lookup that the test answers. */
function makeNames() {
  const asked: { host: string; done: Parameters<Lookup>[2] }[] = []
  const lookup: Lookup = (host, _options, done) => void asked.push({ host, done })
  return { asked, lookup }
}

const address: LookupAddress = { address: '127.0.0.1', family: 4 }

test('a name is looked up once for concurrent callers, and again afterwards', () => {
  const { asked, lookup } = makeNames()
  const shared = shareLookups(lookup)
  const told: string[] = []
  const ask = (host: string, name: string) =>
    shared(host, { all: true }, (_error, [one]) => told.push(`${name} ${one?.address}`))
  ask('a.example', 'first')
  ask('a.example', 'second')
  ask('b.example', 'other')
  assert.deepEqual(
    asked.map(({ host }) => host),
    ['a.example', 'b.example'],
  )
  asked[0]!.done(null, [address])
  assert.deepEqual(told, ['first 127.0.0.1', 'second 127.0.0.1'])
  ask('a.example', 'third')
  assert.equal(asked.length, 3, 'nothing is remembered')
})

test('a failure is returned to all callers', () => {
  const { asked, lookup } = makeNames()
  const shared = shareLookups(lookup)
  const told: unknown[] = []
  for (let count = 0; count < 3; count++) shared('a.example', { all: true }, (error) => told.push(error))
  const error = new Error('ENOTFOUND')
  asked[0]!.done(error, [])
  assert.deepEqual(told, [error, error, error])
})

test('addresses of another family are looked up separately', () => {
  const { asked, lookup } = makeNames()
  const shared = shareLookups(lookup)
  for (const family of [4, 6, 4]) shared('a.example', { all: true, family }, () => undefined)
  assert.equal(asked.length, 2)
})
