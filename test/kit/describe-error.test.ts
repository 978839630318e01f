import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorDescription, safeMessageOf } from '../../src/kit/index.ts'

const secret = 'ann@example.com'

/** What drivers throw, with a value of a row in each place in which they put one. */
const thrown: readonly (readonly [what: string, error: unknown, kept: object])[] = [
  [
    'a constraint of PostgreSQL',
    Object.assign(new Error('new row for relation "person" violates check constraint "adult"'), {
      severity: 'ERROR',
      code: '23514',
      detail: `Failing row contains (1, ${secret}, 12).`,
      where: `COPY person, line 1: "${secret}"`,
      internalQuery: `insert into person values ('${secret}')`,
      table: 'person',
      constraint: 'adult',
    }),
    {
      code: '23514',
      table: 'person',
      constraint: 'adult',
      message: 'new row for relation "person" violates check constraint "adult"',
    },
  ],
  [
    'a value that PostgreSQL cannot parse',
    Object.assign(new Error(`invalid input syntax for type integer: "${secret}"`), {
      severity: 'ERROR',
      code: '22P02',
    }),
    { message: 'invalid input syntax for type integer' },
  ],
  [
    'the same in German, with a line end',
    Object.assign(new Error(`ungültige Eingabesyntax für Typ integer: »a\n${secret}«`), {
      severity: 'FEHLER',
      code: '22P02',
    }),
    { message: 'ungültige Eingabesyntax für Typ integer' },
  ],
  [
    'a value out of range',
    Object.assign(new Error(`value "${secret}" is out of range for type integer`), {
      severity: 'ERROR',
      code: '22003',
    }),
    { message: 'value … is out of range for type integer' },
  ],
  [
    'a command of Redis',
    Object.assign(new Error(`ERR unknown command 'SETT', with args beginning with: 'user' '${secret}'`), {
      command: { name: 'SETT', args: ['user', secret] },
    }),
    { message: "ERR unknown command 'SETT', with args beginning with: …" },
  ],
  [
    'an HTTP client',
    Object.assign(new Error('Request failed with status code 400'), {
      status: 400,
      config: { headers: { authorization: secret }, data: secret },
      response: { data: { email: secret } },
    }),
    { status: 400 },
  ],
  [
    'causes and several errors',
    new AggregateError([Object.assign(new Error('first'), { parameters: [secret] })], 'all failed', {
      cause: Object.assign(new Error('inner'), { params: [secret] }),
    }),
    { message: 'all failed' },
  ],
  ['an object', { email: secret }, { message: 'an object was thrown' }],
]

for (const [what, error, kept] of thrown)
  test(`the description of ${what} contains no value of a row`, () => {
    const description = new ErrorDescription(error, { stackOf: (stack) => stack })
    const text = JSON.stringify(description)
    assert.ok(!text.includes(secret), text)
    assert.partialDeepStrictEqual(JSON.parse(text), kept)
    assert.ok(!safeMessageOf(error).includes(secret))
  })

test('the description of an error has its stack and those of its causes, and ends for circular causes', () => {
  const error = new Error('outer')
  error.cause = error
  const text = JSON.stringify(new ErrorDescription(error, { stackOf: (stack) => stack }))
  assert.equal(text.match(/"stack":/g)?.length, 6)
})
