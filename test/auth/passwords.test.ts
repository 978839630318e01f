import assert from 'node:assert/strict'
import { argon2Sync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { maxConcurrentHashes, hashPassword, verifyPassword } from '../../src/auth/account/passwords.ts'

/** A System with data that must be kept. */
const kept = { isDisposable: false }
/** A System whose hashes take less than a thousandth of the time. */
const cheap = { isDisposable: true }
const secret = { name: 'ann', password: 'correct horse' }
const isPassword = async (...given: Parameters<typeof verifyPassword>) => (await verifyPassword(...given)) === 'right'

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

/** The same passwords as different keyboards and systems write them. */
const spellings: readonly (readonly [string, string])[] = [
  ['Caf\u00E9 au lait', 'Cafe\u0301 au lait'],
  ['\uFF30\uFF41\uFF53\uFF53word 12', 'Password 12'],
  [
    '\uD55C\uAE00 \uBE44\uBC00\uBC88\uD638 12',
    '\u1112\u1161\u11AB\u1100\u1173\u11AF \u1107\u1175\u1106\u1175\u11AF\u1107\u1165\u11AB\u1112\u1169 12',
  ],
]

test('a password is the same in all forms that Unicode calls equal', async () => {
  for (const [one, other] of spellings) {
    for (const [set, typed] of [
      [one, other],
      [other, one],
    ] as const) {
      const stored = await hashPassword(cheap, { name: 'ann', password: set })
      assert.equal(await verifyPassword(cheap, typed, stored), 'right', typed)
      assert.equal(await verifyPassword(cheap, `${typed}.`, stored), 'wrong', typed)
    }
  }
})

test('a hash of a password as it was typed is still accepted, and is outdated', async () => {
  const [composed, decomposed] = spellings[0]!
  const nonce = Buffer.from('somesaltsomesalt')
  const tag = argon2Sync('argon2id', {
    memory: 8,
    passes: 1,
    parallelism: 1,
    tagLength: 32,
    nonce,
    message: decomposed,
  })
  const plain = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  const stored = `$argon2id$v=19$m=8,t=1,p=1$${plain(nonce)}$${plain(tag)}`
  assert.equal(await verifyPassword(kept, decomposed, stored), 'outdated')
  assert.equal(await verifyPassword(kept, composed, stored), 'wrong', 'its characters were never typed like this')
})

test('the length of a password is counted in characters, after normalization', async () => {
  const set = (password: string) =>
    hashPassword(cheap, { name: 'ann', password }).then(
      () => 'set',
      (error) => error.code,
    )
  const letters = ['\u00E9', 'b', 'c', 'd', 'e', 'f', 'g']
  assert.equal(await set(letters.join('').normalize('NFD')), 'WP_AUTH_PASSWORD_WEAK', '7 characters, typed with 8')
  assert.equal(await set('\u{1F600}\u{1F601}ab'), 'WP_AUTH_PASSWORD_WEAK', '4 characters in 6 units')
  assert.equal(await set('\uFDFA'), 'set', 'one character that stands for 18')
  assert.equal(await set('\uFDFA'.repeat(100)), 'WP_AUTH_PASSWORD_WEAK', 'more than 1,024')
  const long = '\u1F82b'.repeat(512)
  assert.equal(await set(long.normalize('NFD')), 'set', '1,024 characters, typed with 2,560')
  const stored = await hashPassword({ isDisposable: true }, { name: 'ann', password: long })
  assert.equal(await verifyPassword(kept, long.normalize('NFD'), stored), 'right')
  for (const typed of [`${long}x`, long.repeat(20), '\uFDFA'.repeat(60_000)])
    assert.equal(await verifyPassword(kept, typed, stored), 'wrong')
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
  assert.match(await hashPassword(cheap, { name: 'ann', password: '       b a' }), /^\$argon2id/)
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
  for (const [password, name, email] of allowed) await hashPassword(cheap, { name, password, email })
})

test('of many concurrent hashes one or two run, the queue holds some, and the rest is rejected', async () => {
  const stored = await hashPassword(cheap, secret)
  const results = await Promise.allSettled(Array.from({ length: 80 }, () => isPassword(cheap, 'x', stored)))
  const refused = results.filter((result) => result.status === 'rejected')
  assert.equal(refused.length, 80 - maxConcurrentHashes - 64)
  for (const { reason } of refused) {
    assert.equal(reason.code, 'WP_AUTH_BUSY')
    assert.equal(reason.status, 429)
    assert.ok(reason.retryAfterSeconds >= 1)
  }
  assert.equal(await isPassword(cheap, 'x', stored), false, 'the queue is empty again')
})

test('reading a file does not wait for the queue', async () => {
  let done = 0
  const hashes = Array.from({ length: 12 }, () => isPassword(kept, 'x', undefined).then(() => done++))
  await readFile(import.meta.filename)
  const doneBefore = done
  await Promise.all(hashes)
  assert.ok(doneBefore < 6, `${doneBefore} of 12 hashes came before a read`)
})
