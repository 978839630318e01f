import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../support/property.ts'
import { makeRedactor } from '../../src/host/redact-line.ts'

const redact = makeRedactor(new Set(['a secret of "Waypost" of 32 characters']))
const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl'

for (const [what, fields, hidden] of [
  ['a header', { req: { headers: { authorization: `Bearer ${jwt}`, cookie: 'session=abcdef' } } }, [jwt, 'abcdef']],
  ['a token in a message', { msg: `refused ${jwt} of ann` }, [jwt]],
  ['credentials of Basic in a message', { msg: 'sent Basic YW5uOnNlY3JldA==' }, ['YW5uOnNlY3JldA']],
  ['the fields of a form', { body: { password: 'quiet "otter" 4417', client_secret: 'abc' } }, ['otter', '"abc"']],
  ['a secret of a subscription', { msg: 'whsec_dGhpcyBpcyBhIHNlY3JldA==' }, ['dGhpcyBp']],
  ['the query of an address', { url: '/cb?code=abcdef&state=1&access_token=ghijkl' }, ['abcdef', 'ghijkl']],
  ['a password in an address', { err: { message: 'postgresql://ann:s3cr3t@db/todo' } }, ['s3cr3t']],
  ['the secret of this server', { msg: 'it is a secret of "Waypost" of 32 characters!' }, ['of 32 characters']],
] as const) {
  test(`${what} is redacted in the log`, () => {
    const line = redact(`${JSON.stringify({ level: 30, ...fields, kept: 'as it was' })}\n`)
    for (const text of hidden) assert.ok(!line.includes(text), line)
    const parsed = JSON.parse(line) as { kept: string }
    assert.equal(parsed.kept, 'as it was')
  })
}

test('text that is not secret is unchanged', () => {
  const line = JSON.stringify({
    msg: 'GET /todo?startIndex=3 took 3 ms',
    token_type: 'bearer',
    url: 'https://a.example/x',
  })
  assert.equal(redact(line), line)
})

test('a line stays valid JSON, and is redacted in linear time', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('token', 'password', 'a', 'msg'), fc.string()), (fields) => {
      assert.equal(typeof JSON.parse(redact(JSON.stringify(fields))), 'object')
    }),
  )
  const long = [
    'eyJ'.repeat(100_000),
    `"token":"${'\\'.repeat(300_000)}`,
    `a://${'b:'.repeat(100_000)}`,
    'x'.repeat(300_000),
  ]
  const began = process.cpuUsage()
  for (const text of long) redact(text)
  assert.ok(process.cpuUsage(began).user < 5e6)
})

test('values that are added later are left out too, the longer one first', () => {
  const secrets = new Set(['first-secret'])
  const redactAll = makeRedactor(secrets)
  assert.equal(redactAll('{"msg":"first-secret second-\\"secret"}'), '{"msg":"[redacted] second-\\"secret"}')
  secrets.add('second-"secret').add('first-secret-of-two').add('short')
  const line = '{"msg":"first-secret-of-two first-secret second-\\"secret short"}'
  assert.equal(redactAll(line), '{"msg":"[redacted] [redacted] [redacted] short"}')
})
