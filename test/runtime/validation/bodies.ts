import { gzipSync } from 'node:zlib'
import { exact, type ValidationCase } from './validation-case.ts'

const todo = { title: 'Milk', content: 'Two' }
const order = { note: 'n', constructor: 'c' }
const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

export const bodyCases: readonly ValidationCase[] = [
  ...['1e400', '-1e309', `1${'0'.repeat(309)}`, '0.0001e313', '1e0000400'].map((number) => ({
    what: `a number beyond the range of a double is refused in every body: ${number.slice(0, 12)}`,
    sent: { path: '/any', headers: json, body: `{"a": ["1e400", ${number}]}` },
    status: 400,
    detail: /^The JSON body is not valid: a number in it is larger than 1\.8e308/,
  })),
  {
    what: 'the largest and the smallest double, and texts and keys that look like larger numbers',
    sent: {
      path: '/any',
      headers: json,
      body: `[1.7976931348623157e308, 5e-324, 1e-400, "1e400", {"2E999": "${'1'.repeat(400)}"}, 1${'0'.repeat(308)}]`,
    },
    status: 200,
    got: { body: [1.7976931348623157e308, 5e-324, 0, '1e400', { '2E999': '1'.repeat(400) }, 1e308] },
  },
  {
    what: 'integers that would be rounded are refused in a body, wherever an integer is declared',
    sent: {
      path: '/integers',
      headers: json,
      body: '{"one": 9007199254740993, "list": [1, -9007199254740992], "either": 9007199254740992, "named": {"next": {"count": 1e20}}}',
    },
    status: 400,
    problems: ['body/one', 'body/list/1', 'body/either', 'body/named/next/count'].map(
      (path) => `${path} must be an integer ${exact}`,
    ),
  },
  {
    what: 'the largest exact integers, large numbers, and large integers as texts',
    sent: {
      path: '/integers',
      headers: json,
      body: '{"one": 9007199254740991, "list": [-9007199254740991], "either": "9007199254740993", "number": 1e300, "small": 3}',
    },
    status: 200,
    got: {
      body: { one: 9007199254740991, list: [-9007199254740991], either: '9007199254740993', number: 1e300, small: 3 },
    },
  },
  {
    what: 'limits of its own hold for an integer',
    sent: { path: '/integers', headers: json, body: '{"small": 4}' },
    status: 400,
    problems: ['body/small must be <= 3'],
  },
  {
    what: 'properties that are named as those of all objects may be left out',
    sent: { path: '/named?other=1', headers: json, body: '{"other": 1}' },
    status: 200,
    got: { query: { other: '1', hasOwnProperty: 3 }, body: { other: 1, toLocaleString: 'x' } },
  },
  {
    what: 'properties that are named as those of all objects are checked',
    sent: { path: '/named?valueOf=a', headers: json, body: '{"constructor": 1, "valueOf": "a"}' },
    status: 400,
    problems: ['body/constructor must be string', 'body/valueOf must be integer', 'query/valueOf must be integer'],
  },
  {
    what: 'properties that are named as those of all objects can be required',
    sent: { path: '/required', headers: json, body: '{}' },
    status: 400,
    problems: ['body/toString is required', 'query/constructor is required'],
  },
  {
    what: 'a price in cents is a multiple of 0.01, in a body',
    sent: { method: 'POST', path: '/prices', headers: json, body: '{"price": 0.07, "set": [{"a": 1}, {"a": 2}]}' },
    status: 200,
    got: { body: { price: 0.07, set: [{ a: 1 }, { a: 2 }] } },
  },
  {
    what: 'a fraction of a cent is not, in a body; objects are equal whatever the order of their keys',
    sent: {
      method: 'POST',
      path: '/prices',
      headers: json,
      body: '{"price": 0.075, "set": [{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]}',
    },
    status: 400,
    problems: [
      'body/price must be multiple of 0.01',
      'body/set must NOT have duplicate items (items ## 1 and 0 are identical)',
    ],
  },
  {
    what: 'a property may be named as a method of every object',
    sent: {
      method: 'POST',
      path: '/prices',
      headers: json,
      body: '{"kind": {"valueOf": 1}, "set": [{"valueOf": 1}, {}]}',
    },
    status: 400,
    problems: ['body/kind must be one of {"of":1}'],
  },
  {
    what: 'a body that fits',
    sent: { path: '/todo', body: todo },
    status: 200,
    got: { body: { ...todo, priority: 3 } },
  },
  {
    what: 'a body gets defaults, in what is required, in lists, references and maps too',
    sent: {
      path: '/order',
      body: { lines: [{}, { count: 2, next: {} }], labels: { any: {} }, pay: { card: '7' } },
    },
    status: 200,
    got: {
      body: {
        note: 'none',
        status: 1,
        lines: [{ count: 1 }, { count: 2, next: { count: 1 } }],
        address: { country: 'CH' },
        labels: { any: { count: 1 } },
        constructor: 'ours',
        pay: { card: '7' },
      },
    },
  },
  {
    what: 'what is sent stays, null too, and no default of an alternative spoils another one',
    sent: {
      path: '/order',
      body: { ...order, status: 2, lines: [], address: { country: 'DE' }, pay: { cash: 5 } },
    },
    status: 200,
    got: { body: { ...order, status: 2, lines: [], address: { country: 'DE' }, pay: { cash: 5 } } },
  },
  {
    what: 'null is not replaced by a default',
    sent: { path: '/order', body: { lines: [], status: null } },
    status: 400,
    problems: ['body/status must be integer'],
  },
  {
    what: 'a body is not coerced, and all its problems are told',
    sent: { path: '/todo', body: { title: 7, priority: '1', extra: true } },
    status: 400,
    problems: [
      'body/content is required',
      'body/title must be string',
      'body/priority must be integer',
      'body/extra is unknown',
    ],
  },
  {
    what: 'no body where one is needed',
    sent: { method: 'POST', path: '/todo' },
    status: 400,
    problems: ['body is required'],
  },
  {
    what: 'null for an object',
    sent: { path: '/todo', headers: json, body: 'null' },
    status: 400,
    problems: ['body must be object'],
  },
  { what: 'a list for an object', sent: { path: '/todo', body: [] }, status: 400, problems: ['body must be object'] },
  { what: 'a list where one is asked for', sent: { path: '/list', body: [1, 2] }, status: 200, got: { body: [1, 2] } },
  {
    what: 'problems inside a list',
    sent: { path: '/list', body: [1, 'x'] },
    status: 400,
    problems: ['body/1 must be integer'],
  },
  {
    what: 'any body by an empty schema',
    sent: { path: '/any', headers: json, body: '"text"' },
    status: 200,
    got: { body: 'text' },
  },
  {
    what: 'without a request any object passes',
    sent: { path: '/free', body: { any: [1] } },
    status: 200,
    got: { body: { any: [1] } },
  },
  {
    what: 'without a request and a body there is an empty object',
    sent: { method: 'POST', path: '/free' },
    status: 200,
    got: { body: {} },
  },
  {
    what: 'without a request a list is refused',
    sent: { path: '/free', body: [1] },
    status: 400,
    problems: ['body must be object'],
  },
  {
    what: 'without a request null is refused',
    sent: { path: '/free', headers: json, body: 'null' },
    status: 400,
    problems: ['body must be object'],
  },
  {
    what: 'a GET ignores a body',
    sent: { method: 'GET', path: '/free', body: { a: 1 } },
    status: 200,
    got: { body: null },
  },
  {
    what: 'a DELETE without a request ignores a body',
    sent: { method: 'DELETE', path: '/free', body: { a: 1 } },
    status: 200,
    got: { body: null },
  },
  {
    what: 'a DELETE with a request checks it',
    sent: { method: 'DELETE', path: '/todo', body: todo },
    status: 200,
    got: { body: { ...todo, priority: 3 } },
  },
  {
    what: 'a DELETE with a request needs it',
    sent: { method: 'DELETE', path: '/todo' },
    status: 400,
    problems: ['body is required'],
  },
  {
    what: 'malformed JSON',
    sent: { path: '/todo', headers: json, body: '{"title":' },
    status: 400,
    detail: /^The JSON body is not valid: it cannot be parsed$/,
  },
  {
    what: 'an empty body that says it is JSON',
    sent: { path: '/todo', headers: json, body: '' },
    status: 400,
    detail: /it is empty/,
  },
  {
    what: 'a charset beside the type',
    sent: { path: '/todo', headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(todo) },
    status: 200,
    got: { body: { ...todo, priority: 3 } },
  },
  {
    what: 'a form',
    sent: { path: '/todo', headers: form, body: 'title=a&content=b' },
    status: 415,
    detail: /must be application\/json/,
  },
  { what: 'plain text', sent: { path: '/todo', headers: { 'content-type': 'text/plain' }, body: '{}' }, status: 415 },
  {
    what: 'a compressed body',
    sent: {
      path: '/todo',
      headers: { ...json, 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(todo)),
    },
    status: 415,
    detail: /^The content encoding "gzip" is not supported$/,
  },
  {
    what: 'a body that says that it is not encoded',
    sent: { path: '/todo', headers: { ...json, 'content-encoding': 'Identity' }, body: JSON.stringify(todo) },
    status: 200,
    got: { body: { ...todo, priority: 3 } },
  },
  {
    what: 'a body in another charset, which JSON is never in',
    sent: {
      path: '/any',
      headers: { 'content-type': 'application/json; charset=latin1' },
      body: Buffer.from('"\xfc"', 'latin1'),
    },
    status: 400,
    detail: /it is not UTF-8/,
  },
  {
    what: 'a body in pieces',
    sent: { path: '/todo', headers: { ...json, 'transfer-encoding': 'chunked' }, body: JSON.stringify(todo) },
    status: 200,
    got: { body: { ...todo, priority: 3 } },
  },
  { what: 'a body without a type', sent: { path: '/todo', body: Buffer.from('{}') }, status: 415 },
  { what: 'a type that is none', sent: { path: '/todo', headers: { 'content-type': ';' }, body: '{}' }, status: 415 },
  {
    what: 'a body that is too large',
    sent: { path: '/any', body: { text: 'x'.repeat(3000) } },
    status: 413,
    detail: /larger than 2048 bytes/,
  },
  {
    what: 'one that is too large and does not say so',
    sent: {
      path: '/any',
      headers: { ...json, 'transfer-encoding': 'chunked' },
      body: JSON.stringify({ text: 'x'.repeat(3000) }),
    },
    status: 413,
  },
  {
    what: 'a deep body for a recursive schema',
    sent: { path: '/nest', headers: json, body: `${'{"c":'.repeat(99)}{}${'}'.repeat(99)}` },
    status: 200,
  },
  {
    what: 'a body that is too deep',
    sent: { path: '/nest', headers: json, body: `${'{"c":'.repeat(300)}{}${'}'.repeat(300)}` },
    status: 400,
    detail: /^The body is nested more than 100 levels deep$/,
  },
  ...['{"__proto__":{"admin":true}}', '{"a":{"__proto__":1}}', '{"constructor":{"prototype":{"admin":1}}}'].map(
    (body) => ({
      what: `${body} is not let through`,
      sent: { path: '/any', headers: json, body },
      status: 400,
      detail: /The JSON body is not valid/,
    }),
  ),
]
