import assert from 'node:assert/strict'
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { fc, wildText } from '../support/property.ts'
import { makeSecrets, type SealedLocation } from '../../src/store/index.ts'

const old = 'the old secret that nobody ought to guess'
const fresh = 'the new secret that nobody ought to guess'
const place: SealedLocation = { table: 'waypost_key', row: 'key_1', column: 'private_jwk' }

test('a sealed value can be opened, and is different each time', () => {
  const secrets = makeSecrets(old)
  fc.assert(
    fc.property(wildText({ maxLength: 200 }), (text) => {
      const sealed = secrets.seal(text, place)
      assert.equal(secrets.unseal(sealed, place), text.toWellFormed())
      assert.notEqual(sealed, secrets.seal(text, place))
      assert.match(sealed, /^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]{22,}$/)
    }),
  )
})

test('a sealed value does not open in another table, row or column', () => {
  const secrets = makeSecrets(old)
  const sealed = secrets.seal('text', place)
  const elsewhere = [
    { table: 'waypost_subscription' },
    { row: 'key_2' },
    { column: 'public_jwk' },
    { table: 'waypost_key","key_1', row: '' },
  ]
  for (const change of elsewhere) {
    const there = { ...place, ...change } as SealedLocation
    assert.throws(() => secrets.unseal(sealed, there), { code: 'WP_STORE_SEALED' })
  }
})

test('a sealed value that was changed, cut off or made up does not open', () => {
  const secrets = makeSecrets(old)
  const sealed = secrets.seal('some text', place)
  const [version, id, nonce, body = ''] = sealed.split('.')
  const bytes = Buffer.from(body, 'base64url')
  const flipped = bytes.map((byte, index) => (index === 0 ? byte ^ 1 : byte))
  const changed = [
    '',
    'v1',
    'plain text',
    [version, id, nonce].join('.'),
    ['v2', id, nonce, body].join('.'),
    [version, '00000000', nonce, body].join('.'),
    [version, id, nonce, Buffer.from(flipped).toString('base64url')].join('.'),
    [version, id, nonce, bytes.subarray(0, -1).toString('base64url')].join('.'),
    [version, id, nonce, ''].join('.'),
    [version, id, Buffer.alloc(12).toString('base64url'), body].join('.'),
  ]
  for (const text of changed) assert.throws(() => secrets.unseal(text, place), { code: 'WP_STORE_SEALED' }, text)
})

test('a short tag, which is quickly guessed, is rejected even if it is right', () => {
  const key = Buffer.from(hkdfSync('sha256', old, 'waypost', 'seal', 32))
  const secrets = makeSecrets(old)
  const id = secrets.seal('', place).split('.')[1]!
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(JSON.stringify([id, place.table, place.row, place.column])))
  cipher.final()
  const tag = cipher.getAuthTag()
  const write = (length: number) =>
    ['v1', id, nonce.toString('base64url'), tag.subarray(0, length).toString('base64url')].join('.')
  assert.equal(secrets.unseal(write(16), place), '')
  for (const length of [15, 12, 8, 4])
    assert.throws(() => secrets.unseal(write(length), place), { code: 'WP_STORE_SEALED' })
})

test('while the secret changes, both open and the new one seals', () => {
  const [before, during, afterwards] = [makeSecrets(old), makeSecrets(`${fresh}, ${old}`), makeSecrets(fresh)]
  const sealedBefore = before.seal('text', place)
  assert.equal(during.unseal(sealedBefore, place), 'text')
  const sealedDuring = during.seal('text', place)
  assert.equal(afterwards.unseal(sealedDuring, place), 'text')
  assert.throws(() => before.unseal(sealedDuring, place), { code: 'WP_STORE_SEALED' })
  assert.throws(() => afterwards.unseal(sealedBefore, place), { code: 'WP_STORE_SEALED' })
})

test('a check value identifies another secret, and reveals nothing about this one', () => {
  const [before, during, afterwards] = [makeSecrets(old), makeSecrets(`${fresh},${old}`), makeSecrets(fresh)]
  assert.equal(before.checkValue, makeSecrets(old).checkValue)
  assert.ok(!before.checkValue.includes(old))
  assert.equal(during.checkValue, afterwards.checkValue)
  assert.deepEqual([during.matches(before.checkValue), during.matches(afterwards.checkValue)], [true, true])
  assert.deepEqual([before.matches(afterwards.checkValue), afterwards.matches(before.checkValue)], [false, false])
})

test('a value identifies the secret that sealed it, and whether it is the newest', () => {
  const [before, during, afterwards] = [makeSecrets(old), makeSecrets(`${fresh},${old}`), makeSecrets(fresh)]
  assert.deepEqual(during.keyIds, [...afterwards.keyIds, ...before.keyIds])
  const sealed = before.seal('text', place)
  assert.ok(sealed.startsWith(`v1.${before.keyIds[0]}.`))
  assert.deepEqual([before.isNewest(sealed), during.isNewest(sealed)], [true, false])
  assert.ok(during.isNewest(during.seal('text', place)))
})

test('each purpose has separate keys, the newest first', () => {
  const during = makeSecrets(`${fresh},${old}`)
  const keys = during.deriveKeys('refresh')
  assert.deepEqual(keys, [...makeSecrets(fresh).deriveKeys('refresh'), ...makeSecrets(old).deriveKeys('refresh')])
  assert.ok(keys.every((key) => key.length === 32))
  assert.notDeepEqual(keys, during.deriveKeys('session'))
})

for (const [text, length] of [
  ['', 0],
  ['short', 5],
  [`${old},short`, 5],
  [`${old},`, 0],
  [' '.repeat(40), 0],
  ['x'.repeat(31), 31],
] as const) {
  test(`the secret "${text.trim().slice(0, 12)}…" of ${length} characters is rejected, and not printed`, () => {
    assert.throws(
      () => makeSecrets(text),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'WP_STORE_SECRET_SHORT')
        assert.equal(
          error.message,
          `WAYPOST_SECRET is too short: it has ${length} characters, but at least 32 are required`,
        )
        return true
      },
    )
  })
}
