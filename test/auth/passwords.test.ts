import assert from 'node:assert/strict'
import { argon2Sync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { maxConcurrentHashes, hashPassword, isPassword } from '../../src/auth/account/passwords.ts'

/** A System with data that must be kept. */
const kept = { isDisposable: false }
const secret = { name: 'ann', password: 'correct horse' }

test('a password is stored as argon2id in PHC form, with the parameters of OWASP and its own salt', async () => {
  const [one, two] = await Promise.all([hashPassword(kept, secret), hashPassword(kept, secret)])
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  assert.notEqual(one, two)
  assert.deepEqual(
    await Promise.all([isPassword(kept, 'correct horse', one), isPassword(kept, 'correct horsf', one)]),
    [true, false],
  )
})

test('a password of a disposable System is hashed cheaply, and is still verified', async () => {
  const stored = await hashPassword({ isDisposable: true }, secret)
  assert.match(stored, /^\$argon2id\$v=19\$m=8,t=1,p=1\$/)
  assert.equal(await isPassword(kept, 'correct horse', stored), true)
  assert.equal(await isPassword({ isDisposable: true }, 'correct horsf', stored), false)
})

test('a hash with other parameters is verified by those', async () => {
  const nonce = Buffer.from('somesalt')
  const options = { memory: 1024, passes: 3, parallelism: 2, tagLength: 24, nonce, message: 'password' }
  const tag = argon2Sync('argon2id', options).toString('base64')
  const stored = `$argon2id$v=19$m=1024,t=3,p=2$${nonce.toString('base64').replace('=', '')}$${tag}`
  assert.equal(await isPassword(kept, 'password', stored), true)
  assert.equal(await isPassword(kept, 'passwort', stored), false)
})

test('no password is valid for a user without one or for an unknown user', async () => {
  for (const stored of [null, undefined, '', '$2b$10$abcdefghijklmnopqrstuv', 'password']) {
    assert.equal(await isPassword(kept, 'password', stored), false)
  }
})

test('a password needs 8 to 1,024 characters', async () => {
  for (const password of ['', '1234567', 'x'.repeat(1025)]) {
    await assert.rejects(hashPassword(kept, { name: 'ann', password }), { code: 'WP_AUTH_PASSWORD_WEAK' })
  }
})

test('a password must not consist of spaces, invisible characters or one repeated character', async () => {
  const weak = [
    ' '.repeat(8),
    '\u00A0\u2003\t \u00A0\u2003\t ',
    '\u200B\u2060'.repeat(4),
    'aaaaaaaa',
    'aAaA aAaA',
    '! ! ! ! !',
    '\u{1F600}'.repeat(8),
    '\uFF41aaaaaaaa',
  ]
  for (const password of weak) {
    await assert.rejects(hashPassword(kept, { name: 'ann', password }), { code: 'WP_AUTH_PASSWORD_WEAK' })
  }
  assert.match(await hashPassword(kept, { name: 'ann', password: '       b a' }), /^\$argon2id/)
})

test('a password must not be the username, in any case', async () => {
  for (const password of ['ann@example.com', 'Ann@Example.com']) {
    await assert.rejects(hashPassword(kept, { name: 'ann@EXAMPLE.com', password }), { code: 'WP_AUTH_PASSWORD_NAME' })
  }
})

const copies: readonly (readonly [password: string, name: string, email?: string])[] = [
  ['  ann.smith  ', 'ann.smith'],
  ['Ann Smith!', 'ann.smith'],
  ['a-n-n-s-m-i-t-h', 'ann_smith'],
  ['\uFF21\uFF4E\uFF4E Smith', 'annsmith'], // full width
  ['ann\u00ADsmith', 'annsmith'], // soft hyphen
  ['annann-ann', 'ann'],
  ['carla.long', 'carla.long@example.com'],
  ['carla long', 'carla', 'carla.long@example.com'],
  ['Carla.Long@example.com.', 'carla', 'carla.long@example.com'],
  ['CarlaShop', 'carl', 'carla+shop@example.com'],
]

for (const [password, name, email] of copies) {
  test(`${JSON.stringify(password)} is not the password of ${name} <${email ?? ''}>`, async () => {
    await assert.rejects(hashPassword(kept, { name, password, email }), { code: 'WP_AUTH_PASSWORD_NAME' })
  })
}

test('a password may contain the username, and may be punctuation only', async () => {
  const allowed = [
    ['ann likes otters', 'ann', null],
    ['..-..-..', '_.', null],
    ['..-..-..', 'ann', '...@example.com'],
    ['example.com', 'ann', 'ann@example.com'],
  ] as const
  for (const [password, name, email] of allowed) await hashPassword(kept, { name, password, email })
})

test('of many concurrent hashes one or two run, the queue holds some, and the rest is rejected', async () => {
  const results = await Promise.allSettled(Array.from({ length: 80 }, () => isPassword(kept, 'x', undefined)))
  const refused = results.filter((result) => result.status === 'rejected')
  assert.equal(refused.length, 80 - maxConcurrentHashes - 64)
  for (const { reason } of refused) {
    assert.equal(reason.code, 'WP_AUTH_BUSY')
    assert.equal(reason.status, 429)
    assert.ok(reason.retryAfterSeconds >= 1)
  }
  assert.equal(await isPassword(kept, 'x', undefined), false, 'the queue is empty again')
})

test('reading a file does not wait for the queue', async () => {
  let done = 0
  const hashes = Array.from({ length: 30 }, () => isPassword(kept, 'x', undefined).then(() => done++))
  await readFile(import.meta.filename)
  const doneBefore = done
  await Promise.all(hashes)
  assert.ok(doneBefore < 15, `${doneBefore} of 30 hashes came before a read`)
})
