import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send, type Sent } from '../support/send.ts'

const echo = 'return { url: request.url, params: request.params, query: request.query, body: request.body ?? null }'

const yml = `
routes:
  /item/:id/:kind:
    path: { id: { type: integer, minimum: 1 }, kind: { enum: [a, b] } }
    methods:
      GET:
        public: true
        parameters:
          from: { type: integer, default: 0 }
          ratio: { type: number }
          open: { type: boolean, default: true }
          tags: { type: array, items: { type: string }, maxItems: 2 }
          since: { type: string, format: date-time }
        action: src/echo.ts
  /numbers:
    methods:
      GET:
        public: true
        parameters:
          list: { type: array, items: { type: integer } }
          named: { $ref: schema:///Count }
          none: { type: [integer, 'null'] }
          either: { anyOf: [{ type: integer }, { type: 'null' }] }
          loose: { type: [integer, string] }
          a/b: { type: integer }
          text: { type: string }
          texts: { type: array, items: { type: string } }
          any: {}
          price: { type: number, multipleOf: 0.01 }
          prices: { type: array, items: { type: number, multipleOf: 0.01 }, uniqueItems: true }
        action: src/echo.ts
  /nulls:
    methods:
      GET:
        public: true
        parameters:
          type: object
          required: [needed]
          properties:
            needed: { type: [integer, 'null'], minimum: 1 }
            since: { type: [integer, 'null'], default: 3 }
            name: { type: [string, 'null'], minLength: 2 }
            either: { oneOf: [{ type: integer }, { $ref: schema:///Nothing }] }
            choice: { enum: [a, null] }
            text: { type: string }
            any: {}
            count: { type: integer }
            open: { type: boolean }
        action: src/echo.ts
  /free:
    methods:
      GET: { public: true, action: src/echo.ts }
      POST: { public: true, action: src/echo.ts }
      PUT: { public: true, action: src/echo.ts }
      DELETE: { public: true, action: src/echo.ts }
  /todo:
    methods:
      POST: { public: true, request: Todo, action: src/echo.ts }
      DELETE: { public: true, request: Todo, action: src/echo.ts }
  /any:
    methods:
      POST: { public: true, request: {}, action: src/echo.ts }
  /choice/:one:
    path: { one: { anyOf: [{ type: integer }, { enum: [latest] }] } }
    methods:
      GET:
        public: true
        parameters:
          page: { oneOf: [{ type: integer }, { enum: [all] }] }
          open: { oneOf: [{ type: boolean }, { type: string, format: date }] }
          tag: { anyOf: [{ enum: [a, b] }, { type: array, items: { enum: [c, d] } }] }
          ids: { anyOf: [{ type: array, items: { type: integer }, minItems: 2 }, { type: integer }] }
          code: { anyOf: [{ type: integer, maximum: 99 }, { type: string }] }
          multiple: { oneOf: [{ type: integer, multipleOf: 3 }, { type: integer, multipleOf: 5 }] }
          mixed: { type: array, maxItems: 4, items: { anyOf: [{ type: boolean }, { type: number }, { enum: [x] }] } }
          since: { $ref: schema:///Since }
          limited: { type: [integer, 'null'], minimum: 3, anyOf: [{ type: integer }, { type: 'null' }] }
          size: { anyOf: [{ type: integer }, { enum: [full] }], default: full }
          count: { type: integer }
          word: { oneOf: [{ type: integer }, { type: string, enum: [all] }] }
          level: { enum: [1, 2, 3] }
          top: { enum: [10, 0.5, all, true, 'null', null] }
          above: { minimum: 0 }
          flags: { items: { enum: [true, false] }, maxItems: 2 }
        action: src/echo.ts
  /integers:
    methods:
      POST:
        public: true
        request:
          type: object
          properties:
            one: { type: integer }
            list: { type: array, items: { type: integer } }
            either: { type: [integer, string] }
            named: { $ref: schema:///Line }
            number: { type: number }
            small: { type: integer, minimum: 1, maximum: 3 }
        action: src/echo.ts
  /named:
    methods:
      POST:
        public: true
        parameters:
          constructor: { type: string }
          valueOf: { type: integer }
          hasOwnProperty: { type: integer, default: 3 }
        request:
          type: object
          properties: { constructor: { type: string }, valueOf: { type: integer }, toLocaleString: { type: string, default: x } }
        action: src/echo.ts
  /required:
    methods:
      POST:
        public: true
        parameters: { type: object, required: [constructor], properties: { constructor: { type: string } } }
        request: { type: object, required: [toString], properties: { toString: { type: string } } }
        action: src/echo.ts
  /list:
    methods:
      POST: { public: true, request: { type: array, items: { type: integer }, maxItems: 3 }, action: src/echo.ts }
  /order:
    methods:
      POST: { public: true, request: Order, action: src/echo.ts }
      GET: { public: true, parameters: { oneOf: [{ $ref: schema:///Card }, { $ref: schema:///Cash }] }, action: src/echo.ts }
  /nest:
    methods:
      POST: { public: true, request: Nest, action: src/echo.ts }
  /range:
    methods:
      GET: { public: true, parameters: Range, action: src/echo.ts }
  /prices:
    methods:
      POST: { public: true, request: Prices, action: src/echo.ts }
schema:
  Prices:
    type: object
    properties:
      price: { type: number, multipleOf: 0.01 }
      kind: { enum: [{ of: 1 }] }
      set: { type: array, uniqueItems: true, items: { type: object }, maxItems: 9 }
  Todo:
    type: object
    required: [title, content]
    additionalProperties: false
    properties:
      title: { type: string, minLength: 1, maxLength: 64 }
      content: { type: string }
      priority: { type: integer, default: 3 }
  Nest: { type: object, additionalProperties: false, properties: { c: { $ref: schema:///Nest } } }
  Range:
    type: object
    required: [from, to]
    additionalProperties: false
    properties: { from: { $ref: schema:///Day }, to: { $ref: schema:///Day }, step: { type: integer, default: 1 } }
  Day: { type: string, format: date }
  Count: { type: integer, minimum: 1 }
  Order:
    type: object
    required: [status, lines]
    allOf: [{ type: object, required: [note], properties: { note: { type: string, default: none } } }]
    properties:
      status: { type: integer, default: 1 }
      lines: { type: array, maxItems: 9, items: { $ref: schema:///Line } }
      address: { type: object, default: {}, properties: { country: { type: string, default: CH } } }
      labels: { type: object, additionalProperties: { $ref: schema:///Line } }
      constructor: { type: string, default: ours }
      pay: { oneOf: [{ $ref: schema:///Card }, { $ref: schema:///Cash }] }
  Line: { type: object, properties: { count: { type: integer, default: 1 }, next: { $ref: schema:///Line } } }
  Card:
    type: object
    required: [card]
    additionalProperties: false
    properties: { card: { type: string }, currency: { type: string, default: EUR } }
  Cash: { type: object, required: [cash], additionalProperties: false, properties: { cash: { type: number } } }
  Nothing: { type: 'null' }
  Since: { anyOf: [{ $ref: '#/$defs/count' }, { $ref: schema:///Day }], $defs: { count: { type: integer } } }
config: { body_limit: 2kb }
`

interface Case {
  readonly what: string
  readonly sent: Sent
  readonly status: number
  /** The input of the action, limited to these properties. */
  readonly got?: Readonly<Record<string, unknown>>
  /** Returns \`path message\` of every problem, in any order. */
  readonly problems?: readonly string[]
  readonly detail?: RegExp
  /** Matches \`path\` of every problem, instead of \`problems\`. */
  readonly fails?: RegExp
}

const exact = 'from -9007199254740991 to 9007199254740991; larger ones must be declared and sent as strings'
const todo = { title: 'Milk', content: 'Two' }
const order = { note: 'n', constructor: 'c' }
const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const cases: readonly Case[] = [
  {
    what: 'path and query come coerced, with defaults',
    sent: { path: '/item/7/a?ratio=1.5&tags=x' },
    status: 200,
    got: { params: { id: 7, kind: 'a' }, query: { from: 0, ratio: 1.5, open: true, tags: ['x'] } },
  },
  {
    what: 'repeated query parameters are a list',
    sent: { path: '/item/7/a?tags=x&tags=y&open=false&from=-3' },
    status: 200,
    got: { query: { from: -3, open: false, tags: ['x', 'y'] } },
  },
  {
    what: 'query parameters that no schema names pass as text',
    sent: { path: '/item/7/a?utm=1' },
    status: 200,
    got: { query: { utm: '1', from: 0, open: true } },
  },
  {
    what: 'all problems of path and query are told at once',
    sent: { path: '/item/zero/c?from=x&ratio=&open=maybe&tags=1&tags=2&tags=3&since=yesterday' },
    status: 400,
    problems: [
      'path/id must be integer',
      'path/kind must be one of "a", "b"',
      'query/from must be integer',
      'query/ratio must be number',
      'query/open must be boolean',
      'query/tags must NOT have more than 2 items',
      'query/since must match format "date-time"',
    ],
  },
  ...'1.5 0x1g %201x NaN 1,5 0x1 0b1 0o7 1e3 1E3 01 -01 +1 %2B1 %201 1%20 %0A1 1.0 1. .5 1_000 %D9%A1 --1'
    .split(' ')
    .map((id) => ({
      what: `"${id}" is no integer: only digits are, with or without a minus`,
      sent: { path: `/item/7/a?from=${id}` },
      status: 400,
      problems: ['query/from must be integer'],
    })),
  ...['from=1e999', 'from=Infinity', 'ratio=-Infinity', 'from=99999999999999999999', 'from=-9007199254740992'].map(
    (query) => ({
      what: `a number that JavaScript cannot hold is refused rather than rounded: ${query}`,
      sent: { path: `/item/7/a?${query}` },
      status: 400,
      problems: [`query/${query.split('=')[0]} must be a number ${exact}`],
    }),
  ),
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
  ...(
    [
      ['page=5', { page: 5 }],
      ['page=all', { page: 'all' }],
      ['open=true', { open: true }],
      ['open=2026-01-31', { open: '2026-01-31' }],
      ['tag=a', { tag: 'a' }],
      ['tag=c', { tag: ['c'] }],
      ['tag=c&tag=d', { tag: ['c', 'd'] }],
      ['ids=5', { ids: 5 }],
      ['ids=5&ids=6', { ids: [5, 6] }],
      ['code=99', { code: 99 }],
      ['code=0099', { code: '0099' }],
      ['code=100', { code: '100' }],
      ['code=1e1', { code: '1e1' }],
      ['code=9007199254740993', { code: '9007199254740993' }],
      ['multiple=9', { multiple: 9 }],
      ['multiple=10', { multiple: 10 }],
      ['mixed=true&mixed=1.5&mixed=x', { mixed: [true, 1.5, 'x'] }],
      ['mixed=1', { mixed: [1] }],
      ['since=7', { since: 7 }],
      ['since=2026-01-31', { since: '2026-01-31' }],
      ['limited=3', { limited: 3 }],
      ['limited=null', { limited: null }],
      ['size=3&page=5&count=7', { size: 3, page: 5, count: 7 }],
      ['level=2&above=1.5&flags=true', { level: 2, above: 1.5, flags: [true] }],
      ['top=10', { top: 10 }],
      ['top=0.5', { top: 0.5 }],
      ['top=all', { top: 'all' }],
      ['top=true', { top: true }],
    ] as const
  ).map(([query, got]) => ({
    what: `a parameter is read by the alternative that accepts its text: ${query}`,
    sent: { path: `/choice/latest?${query}` },
    status: 200,
    got: { params: { one: 'latest' }, query: { size: 'full', ...got } },
  })),
  {
    what: 'a path parameter is read by the alternative that accepts its text',
    sent: { path: '/choice/12' },
    status: 200,
    got: { params: { one: 12 } },
  },
  ...['page=5.0', 'page=none', 'open=yes', 'tag=x', 'tag=a&tag=b', 'multiple=15', 'multiple=7', 'mixed=y', 'limited=2']
    .concat('mixed=1&mixed=1&mixed=1&mixed=1&mixed=1', 'since=5.5', 'page=5&page=6', 'page=5&count=x')
    .concat(
      'word=5.0',
      'level=4',
      'level=a',
      'above=-1',
      'above=x',
      'flags=1',
      'flags=true&flags=true&flags=true',
      'top=11',
      'top=All',
    )
    .map((query) => ({
      what: `a text that no alternative accepts, or several of \`oneOf\`, is refused: ${query}`,
      sent: { path: `/choice/latest?${query}` },
      status: 400,
      fails: /^query\//,
    })),
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
    what: 'a price in cents is a multiple of 0.01, in a query',
    sent: { path: '/numbers?price=19.99&prices=0.07&prices=4.35' },
    status: 200,
    got: { query: { price: 19.99, prices: [0.07, 4.35] } },
  },
  {
    what: 'a fraction of a cent is not, in a query; 0.10 and 0.1 are the same',
    sent: { path: '/numbers?price=19.995&prices=0.10&prices=0.1' },
    status: 400,
    problems: [
      'query/price must be multiple of 0.01',
      'query/prices must NOT have duplicate items (items ## 1 and 0 are identical)',
    ],
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
    what: 'null is null for a parameter that may be null, and a text for any other',
    sent: { path: '/nulls?needed=null&since=null&name=null&either=null&choice=null&text=null&any=null&other=null' },
    status: 200,
    got: {
      query: {
        needed: null,
        since: null,
        name: null,
        either: null,
        choice: null,
        text: 'null',
        any: 'null',
        other: 'null',
      },
    },
  },
  {
    what: 'other parameters are coerced beside null, and all their problems are told',
    sent: { path: '/nulls?needed=null&count=7&open=true&either=5' },
    status: 200,
    got: { query: { needed: null, since: 3, count: 7, open: true, either: 5 } },
  },
  {
    what: 'null is no number and no boolean where it is not allowed',
    sent: { path: '/nulls?needed=null&count=null&open=null&name=x' },
    status: 400,
    problems: [
      'query/count must be integer',
      'query/open must be boolean',
      'query/name must NOT have fewer than 2 characters',
    ],
  },
  {
    what: 'a parameter that may be null and is not there is missing',
    sent: { path: '/nulls?since=null' },
    status: 400,
    problems: ['query/needed is required'],
  },
  ...['0x1', '01', '+1', '%2B.5', '.5', '5.', '%201', '1e', '1,5', 'NaN'].map((ratio) => ({
    what: `"${ratio}" is no number, which is written as in JSON`,
    sent: { path: `/item/7/a?ratio=${ratio}` },
    status: 400,
    problems: ['query/ratio must be number'],
  })),
  ...Object.entries({ '1e3': 1000, '1.0': 1, '-0.5': -0.5, '1.5e-7': 1.5e-7, '2E%2B2': 200, '0': 0 }).map(
    ([text, ratio]) => ({
      what: `"${text}" is a number`,
      sent: { path: `/item/7/a?ratio=${text}` },
      status: 200,
      got: { query: { from: 0, open: true, ratio } },
    }),
  ),
  ...['TRUE', '1', '0', 'yes', 'on', ''].map((open) => ({
    what: `"${open}" is no boolean: only true and false are`,
    sent: { path: `/item/7/a?open=${open}` },
    status: 400,
    problems: ['query/open must be boolean'],
  })),
  {
    what: 'an integer of the path is written in digits too',
    sent: { path: '/item/0x7/a' },
    status: 400,
    problems: ['path/id must be integer'],
  },
  {
    what: 'a number that is not written as one is told beside all other problems',
    sent: { path: '/item/7/a?from=1e1&ratio=x' },
    status: 400,
    problems: ['query/from must be integer', 'query/ratio must be number'],
  },
  {
    what: 'numbers in lists, behind references, beside null and among alternatives are read in the same way',
    sent: { path: '/numbers?list=1&list=0x2&named=1e2&none=&either=0x1&loose=1e1&a/b=01' },
    status: 400,
    problems: [
      'query/list/1 must be integer',
      'query/named must be integer',
      'query/a~1b must be integer',
      'query/either must be integer',
    ],
  },
  {
    what: 'a text that looks like a number stays as it is',
    sent: { path: '/numbers?list=3&named=10&none=&text=0x10&texts=01&any=1e3&either=&loose=0x1' },
    status: 200,
    got: {
      query: {
        list: [3],
        named: 10,
        none: null,
        text: '0x10',
        texts: ['01'],
        any: '1e3',
        either: null,
        loose: '0x1',
      },
    },
  },
  {
    what: 'what may be null says so',
    sent: { path: '/numbers?none=nil' },
    status: 400,
    problems: ['query/none must be integer or null'],
  },
  {
    what: 'a list is made by repetition, not by commas',
    sent: { path: '/numbers?list=1,2' },
    status: 400,
    problems: ['query/list/0 must be integer'],
  },
  {
    what: 'the largest integers pass',
    sent: { path: '/item/9007199254740991/a?from=-9007199254740991' },
    status: 200,
    got: { params: { id: 9007199254740991, kind: 'a' } },
  },
  ...['from=1&from=2', 'from=1&from=1', 'since=&since='].map((query) => ({
    what: `a value that is given twice and may not be is refused: ${query}`,
    sent: { path: `/item/7/a?${query}` },
    status: 400,
    problems: [`query/${query.split('=')[0]} must not be repeated`],
  })),
  {
    what: 'parameters by the name of a schema are coerced and get its defaults',
    sent: { path: '/range?from=2026-01-01&to=2026-02-01' },
    status: 200,
    got: { query: { from: '2026-01-01', to: '2026-02-01', step: 1 } },
  },
  {
    what: 'what such a schema closes stays closed',
    sent: { path: '/range?from=2026-13-01&steps=1' },
    status: 400,
    problems: [
      'query/to is required',
      'query/steps is unknown. Did you mean "step"?',
      'query/from must match format "date"',
    ],
  },
  {
    what: 'a name from the prototype is a parameter like others',
    sent: { path: '/range?from=2026-01-01&to=2026-02-01&__proto__=1&constructor=2' },
    status: 400,
    problems: ['query/__proto__ is unknown', 'query/constructor is unknown'],
  },
  {
    what: 'a parameter may come percent-encoded',
    sent: { path: '/item/%37/%61' },
    status: 200,
    got: { params: { id: 7, kind: 'a' } },
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
    what: 'no default of an alternative spoils another one in a query',
    sent: { path: '/order?cash=5' },
    status: 200,
    got: { query: { cash: 5 } },
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

describe('a request to a route', () => {
  let server: ProjectServer
  before(async () => {
    const action = `export default class Echo {\n  handle(request: any) {\n    ${echo}\n  }\n}\n`
    server = await openProjectServer({ files: { 'waypost.yml': yml, 'src/echo.ts': action } })
  })
  after(() => server[Symbol.asyncDispose]())

  for (const { what, sent, status, got, problems, detail, fails } of cases) {
    test(what, async () => {
      const answer = await send(server.port, sent)
      assert.equal(answer.status, status, answer.text)
      for (const [name, value] of Object.entries(got ?? {})) assert.deepEqual(answer.body[name], value)
      if (status < 400) return
      assert.equal(answer.headers['content-type'], 'application/problem+json')
      assert.equal(answer.body.status, status)
      assert.deepEqual(Object.keys(answer.body).slice(0, 4), ['type', 'title', 'status', 'detail'])
      const found = (answer.body.errors as { path: string; message: string }[] | undefined)?.map(
        (one) => `${one.path} ${one.message}`,
      )
      if (fails === undefined) assert.deepEqual(found?.sort(), problems?.toSorted())
      else for (const one of found ?? ['nothing']) assert.match(one, fails)
      if (detail !== undefined) assert.match(answer.body.detail, detail)
    })
  }

  test('a large body that does not match returns one problem, not millions', async () => {
    await using large = await openProjectServer({
      files: {
        'waypost.yml': yml.replace('2kb', '1mb').replace(', maxItems: 3', ''),
        'src/echo.ts': 'export default class Echo { handle() { return {} } }',
      },
    })
    const answer = await send(large.port, { path: '/list', body: Array.from({ length: 100_000 }, () => 'x') })
    assert.equal(answer.status, 400)
    assert.deepEqual(answer.body.errors, [{ path: 'body/0', message: 'must be integer' }])
    const smaller = await send(large.port, { path: '/list', body: Array.from({ length: 1000 }, () => 'x') })
    assert.equal(smaller.body.errors.length, 51)
    assert.deepEqual(smaller.body.errors.at(-1), { path: 'body', message: 'has 950 more problems' })
  })
})
