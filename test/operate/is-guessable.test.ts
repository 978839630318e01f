import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { isGuessable } from '../../src/operate/doctor/is-guessable.ts'

const guessable = [
  'correct-horse-battery-staple-correct',
  'correcthorsebatterystaplecorrecthorse',
  'CorrectHorseBatteryStapleSevenOtters',
  'the quick brown fox jumps over the lazy dog',
  'our bookshop api runs on three machines 2026',
  'die Kunden bestellen unsere Waren im Internet',
  'acme-production-server-signing-key-1',
  'a'.repeat(40),
  'abcdefghijklmnopqrstuvwxyz0123456789',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ',
  '12345678901234567890123456789012',
  '11112222333344445555666677778888',
  'deadbeefdeadbeefdeadbeefdeadbeef',
  'k3Vx8qPd'.repeat(5),
  'change-me-'.repeat(4),
  'qwertyuiopasdfghjklzxcvbnm1234567890',
]

for (const secret of guessable) {
  test(`${secret} is guessable`, () => assert.equal(isGuessable(secret), true))
}

/** The same bytes in every run, because a few of millions of random secrets are guessable. */
const bytes = (name: string, index: number, count: number) =>
  createHash('shake256', { outputLength: count }).update(`${name} ${index}`).digest()
const base32 = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')
const generators: Readonly<Record<string, (index: number) => string>> = {
  'a secret of init and dev': (index) => bytes('own', index, 32).toString('base64url'),
  'openssl rand -base64 32': (index) => bytes('long', index, 32).toString('base64'),
  'openssl rand -base64 24': (index) => bytes('short', index, 24).toString('base64'),
  'openssl rand -hex 32': (index) => bytes('long', index, 32).toString('hex'),
  'openssl rand -hex 16': (index) => bytes('short', index, 16).toString('hex'),
  '52 characters of base32': (index) => Array.from(bytes('base32', index, 52), (byte) => base32[byte % 32]).join(''),
  '32 digits': (index) => Array.from(bytes('digits', index, 32), (byte) => byte % 10).join(''),
}

for (const [name, generate] of Object.entries(generators)) {
  test(`${name} is not guessable, 1,000 times`, () => {
    const secrets = Array.from({ length: 1000 }, (_, index) => generate(index))
    assert.equal(new Set(secrets).size, 1000)
    assert.deepEqual(secrets.filter(isGuessable), [])
  })
}
