import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeFailure, formatAnswered, formatLogged } from '../../bin/cli/dev-lines.ts'
import { hideSecretsInUrl } from '../../src/kit/index.ts'

const answered = {
  id: '7Q4F2K',
  method: 'GET',
  path: '/todo',
  status: 200,
  ms: 1.94,
  user: undefined,
  reason: undefined,
  dropped: undefined,
}
const refused = { ...answered, method: 'POST', status: 401, reason: 'no token; requires scope todo' }
const long = `/${'folder/'.repeat(30)}end`

for (const width of [60, 80, 120]) {
  test(`lines of requests are aligned and keep to ${width} columns`, () => {
    const lines = [
      formatAnswered(answered, { width }),
      formatAnswered({ ...answered, method: 'DELETE', path: '/todo/17', status: 204, ms: 1234 }, { width }),
      formatAnswered(refused, { width }),
      formatAnswered({ ...answered, path: long, status: 404, reason: `Nothing found at ${long}` }, { width }),
      formatAnswered({ ...answered, status: 500, user: 'dev' }, { width }),
    ].map(([first, ...others]) => [`00:00:00  ${first}`, ...others])
    for (const line of lines.flat()) assert.ok(line.length <= width, `${line.length}: ${line}`)
    const [one, other, third] = lines.map(([first = '']) => first.search(/ (200|204|401) /))
    assert.deepEqual([other, third], [one, one])
    assert.ok(lines[3]![0]!.includes('…') && lines[3]![0]!.includes('/end  404'))
  })
}

test('a reason follows its request if it fits, otherwise below it; without a terminal always on the same line', () => {
  assert.deepEqual(formatAnswered(refused, { width: 80 }), [
    'POST   /todo             401   1.9 ms   no token; requires scope todo',
  ])
  assert.deepEqual(formatAnswered(refused, { width: 60 }), [
    'POST   /todo         401   1.9 ms',
    '          no token; requires scope todo',
  ])
  const [line, below] = formatAnswered({ ...refused, reason: 'x'.repeat(300) }, { width: undefined })
  assert.ok(line!.endsWith('x'.repeat(300)) && below === undefined)
})

test('callers, ids of failures and repetitions are shown', () => {
  assert.match(formatAnswered({ ...answered, user: 'dev' }, { width: 80 })[0]!, / {3}dev$/)
  assert.match(formatAnswered({ ...answered, status: 503 }, { width: 80 })[0]!, / {3}request 7Q4F2K$/)
  assert.match(formatAnswered(answered, { width: 80, times: 12 })[0]!, / {3}×12$/)
})

test('no input of a caller moves the cursor', () => {
  const escape = '\u001B[2J'
  for (const part of [{ path: `/a${escape}` }, { reason: `a${escape}\nb\u202E` }, { user: `a${escape}` }]) {
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(formatAnswered({ ...answered, ...part }, { width: 80 }).join(''), /[\u0000-\u001F\u202E]/)
  }
})

test('values that may be secret are left out', () => {
  const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl'
  for (const [url, shown] of [
    ['/todo?startIndex=3&q=milk', '/todo?startIndex=3&q=milk'],
    ['/todo?access_token=abc&x=1', '/todo?access_token=…&x=1'],
    ['/a?x=1&Password=a=b&code=c', '/a?x=1&Password=…&code=…'],
    ['/a?api%5Fkey=abc&client_secret=d', '/a?api%5Fkey=…&client_secret=…'],
    ['/a?a?token=abc', '/a?a?token=…'],
    ['/a?%E0%token=abc', '/a?%E0%token=…'],
    [`/verify/${jwt}?next=${jwt}`, '/verify/…?next=…'],
    ['/a?token', '/a?token'],
    ['/a?apiKey=a&X-API-Key=b&APIKey=c&apikey=d&key=e', '/a?apiKey=…&X-API-Key=…&APIKey=…&apikey=…&key=…'],
    [
      '/a?accesstoken=a&userPassword=b&sessionid=c&auth[token]=d',
      '/a?accesstoken=…&userPassword=…&sessionid=…&auth[token]=…',
    ],
    ['/a?author_id=7&authorId=7&AUTHOR=7&keyword=milk', '/a?author_id=7&authorId=7&AUTHOR=7&keyword=milk'],
    ['/a?monkey=1&passenger=2&country_code=de&design=4', '/a?monkey=1&passenger=2&country_code=de&design=4'],
    ['/a?max_tokens=5&sessions=2&estate=3&tokenize=4', '/a?max_tokens=5&sessions=2&estate=3&tokenize=4'],
  ] as const) {
    assert.equal(hideSecretsInUrl(url), shown)
  }
  assert.doesNotMatch(formatAnswered({ ...answered, reason: `not ${jwt}` }, { width: 120 })[0]!, /eyJ/)
})

test('of a stack, only lines of the project and of its causes are shown', () => {
  const error = new TypeError('no\nway', { cause: new Error('because') })
  error.stack = `TypeError: no\nway\n    at A.handle (waypost:///src/a.ts:8:35)\n    at run (/x/node_modules/y.js:1:1)`
  ;(error.cause as Error).stack = 'Error: because\n    at B (waypost:///src/b.ts:1:2)'
  assert.equal(
    describeFailure(error),
    'TypeError: no\nway\n  at A.handle (src/a.ts:8:35)\ncaused by Error: because\n  at B (src/b.ts:1:2)',
  )
  assert.equal(describeFailure('words'), 'words')
})

test('an interrupted response is marked', () => {
  assert.match(
    formatAnswered({ ...answered, aborted: 'failed' }, { width: 80 })[0]!,
    /  200 .* {3}response aborted {3}request 7Q4F2K$/,
  )
  assert.match(formatAnswered({ ...answered, aborted: 'cut' }, { width: 80 })[0]!, /stream ended, clients reconnect$/)
  assert.match(formatAnswered({ ...answered, aborted: 'left' }, { width: 80 })[0]!, /  200 .* {3}client disconnected$/)
})

test('a line of an action has its level, unless it is info, its message and its fields', () => {
  const line = { level: 'info', message: 'an order', cronjob: undefined, fields: { order: 7, by: ['ann'] } }
  assert.equal(formatLogged(line), 'log    an order   {"order":7,"by":["ann"]}')
  assert.equal(formatLogged({ ...line, level: 'warn', fields: {} }), 'warn   an order')
  assert.equal(formatLogged({ ...line, cronjob: 'nightly', fields: {} }), 'log    cron nightly   an order')
  assert.equal(formatLogged({ ...line, message: 'a\u001B[2Jb\nc', fields: {} }), 'log    a [2Jb c')
})
