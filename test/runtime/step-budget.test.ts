import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonSchema } from '../../src/contract/index.ts'
import { makeDataCheck, makeSchemaCache } from '../../src/runtime/index.ts'
import { getMaxSteps } from '../../src/runtime/step-budget.ts'
import { actionFile, openProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const mb = 1024 * 1024
const node: JsonSchema = { $ref: '#/$defs/node' }
const recursive = (schema: JsonSchema): JsonSchema => ({ $defs: { node: schema }, ...node })
const nest = (open: string, inner: string, close: string, levels: number): unknown =>
  JSON.parse(open.repeat(levels) + inner + close.repeat(levels))
/** So many items as are in a body of 1 MB. */
const fill = (item: string) => {
  const value: unknown = JSON.parse(item)
  return Array.from({ length: Math.floor(mb / (item.length + 1)) }, () => structuredClone(value))
}
/** The same, each with another number in place of `#`. */
const differ = (item: string) =>
  Array.from({ length: Math.floor(mb / (item.length + 5)) }, (_, index) => JSON.parse(item.replace('#', String(index))))
const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]))
const patterns = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`^[a-z]+\\d*x{${index}}$`, { type: 'number' }]))

const order: JsonSchema = {
  type: 'object',
  required: ['id', 'name', 'price'],
  additionalProperties: false,
  properties: {
    id: { type: 'integer' },
    name: { type: 'string', pattern: '^[a-z]+$' },
    price: { type: 'number', multipleOf: 0.01 },
    tags: { type: 'array', items: { type: 'string' } },
  },
}
const operation = (name: string): JsonSchema => ({
  type: 'object',
  properties: { left: node, right: node, operation: { const: name } },
  required: ['operation', 'left', 'right'],
})
const formula = recursive({ oneOf: [{ type: 'number' }, ...['plus', 'minus', 'times'].map(operation)] })
const formulaOf = (levels: number, name: string) => nest('{"left":', '1', `,"right":1,"operation":"${name}"}`, levels)
const alike = recursive({
  anyOf: [
    { type: 'object', properties: { c: node, d: { required: ['x'] } } },
    { type: 'object', properties: { c: node } },
    { type: 'null' },
  ],
})
const alikeOf = (levels: number) => nest('{"c":', 'null', ',"d":{}}', levels)

const cases: readonly (readonly [what: string, schema: JsonSchema, value: unknown, isAccepted: boolean])[] = [
  ['1 MB of orders', { type: 'array', items: order }, fill('{"id":1,"name":"abc","price":1.25,"tags":["a"]}'), true],
  ['1 MB of numbers', { type: 'array', items: { type: 'integer', minimum: 0 } }, fill('1'), true],
  [
    '1 MB of unique orders',
    { type: 'array', items: order, uniqueItems: true },
    differ('{"id":#,"name":"abcdefghijklmnopqrst","price":1.25,"tags":["a"]}'),
    true,
  ],
  ['1 MB of unique numbers', { type: 'array', uniqueItems: true }, differ('#'), true],
  [
    '1 MB of unique values that are deep',
    { type: 'array', uniqueItems: true },
    differ('['.repeat(90) + '#' + ']'.repeat(90)),
    false,
  ],
  ['1 MB of unique values that are small', { type: 'array', uniqueItems: true }, differ('[#]'), false],
  ['1 MB of prices', { items: { multipleOf: 0.01 } }, fill('123.25'), true],
  ['1 MB of large numbers that must be multiples', { items: { multipleOf: 0.01 } }, fill('1e308'), false],
  ['1 MB of numbers that must be multiples of a tiny one', { items: { multipleOf: 1e-300 } }, fill('1.5'), false],
  ['1 MB of texts, one of which must match', { contains: { const: 'none' } }, fill('"abcdefgh"').concat('none'), true],
  ['1 MB of numbers, none of which matches', { contains: { type: 'string' } }, fill('1'), false],
  ['a long text with a pattern', { type: 'string', pattern: '^(\\w+\\s?)*$' }, 'a'.repeat(mb), true],
  ['deep alternatives that a constant tells apart', formula, formulaOf(90, 'times'), true],
  ['1 MB of trees', recursive({ properties: { a: node }, items: node }), fill('{"a":{"a":{"a":[{},{}]}}}'), true],
  ['few levels of alternatives that are alike', alike, alikeOf(8), true],
  ['many levels of alternatives that are alike', alike, alikeOf(90), false],
  ['many levels of alternatives, of which the first is valid', alike, nest('{"c":', 'null', '}', 90), true],
  [
    'exactly one of many alternatives that are alike',
    recursive({ oneOf: [{ properties: { c: node, d: { required: ['x'] } } }, { properties: { c: node } }] }),
    alikeOf(90),
    false,
  ],
  [
    'the same property twice',
    recursive({ properties: { c: node }, patternProperties: { '^c': node } }),
    nest('{"c":', '1', '}', 90),
    false,
  ],
  [
    'defaults that are found twice',
    recursive({ allOf: [{ properties: { c: node, d: { default: 1 } } }, { properties: { c: node } }] }),
    nest('{"c":', '{}', '}', 90),
    false,
  ],
  ['many names for a pattern', { patternProperties: patterns(1) }, names(5000), true],
  ['many names for many patterns', { patternProperties: patterns(20) }, names(90_000), false],
  [
    'many objects for a large enumeration',
    { items: { enum: Array.from({ length: 100 }, (_, index) => ({ a: index })) } },
    fill('{"a":99}'),
    false,
  ],
]

describe('the check of a body', () => {
  for (const [what, schema, value, isAccepted] of cases) {
    test(`${isAccepted ? 'accepts' : 'stops at'} ${what}`, () => {
      const found = makeSchemaCache().validator(schema, {}, 'body')(value, getMaxSteps(mb))
      if (isAccepted) assert.equal(found, undefined)
      else
        assert.match(found?.map(({ path, message }) => `${path} ${message}`).join() ?? '', /^body takes too many steps/)
    })
  }

  test('names only one problem of a body that would have a great many', () => {
    const required = Array.from({ length: 300 }, (_, index) => `k${index}`)
    const check = makeSchemaCache().validator({ type: 'array', items: { type: 'object', required } }, {}, 'body')
    const ofOne = check([{}], getMaxSteps(mb)) ?? []
    assert.equal(ofOne.length, 51)
    assert.deepEqual(ofOne.at(-1), { path: 'body', message: 'has 250 more problems' })
    assert.equal(
      check(
        Array.from({ length: 20_000 }, () => ({})),
        getMaxSteps(mb),
        60_000,
      )?.length,
      1,
    )
    assert.equal(
      check(
        Array.from({ length: 30_000 }, () => ({})),
        getMaxSteps(mb),
        90_000,
      )?.length,
      1,
    )
  })

  test('names the problems of a small body', () => {
    const found = makeSchemaCache().validator(formula, {}, 'body')({ operation: 'plus', left: 1 }, getMaxSteps(mb))
    assert.ok(found?.some(({ path, message }) => path === 'body/right' && message === 'is required'))
  })

  test('names the first problem if it takes too many steps to find all', () => {
    const one = { type: 'object', properties: { c: node }, required: ['a'] }
    const check = makeSchemaCache().validator(recursive({ anyOf: [one, { ...one, required: [] }] }), {}, 'body')
    const found = check(nest('{"c":', '1', '}', 60), getMaxSteps(mb))
    assert.match(found?.map(({ message }) => message).join() ?? '', /^is required/)
  })

  describe('of a long body with many keys', () => {
    const closed = (name: string): JsonSchema => ({
      type: 'object',
      required: ['a'],
      properties: { a: { const: name } },
      additionalProperties: false,
      minProperties: 1,
    })
    const schemas: Readonly<Record<string, JsonSchema>> = {
      'no other properties': closed('a'),
      'one of ten alternatives without other properties': {
        oneOf: Array.from({ length: 10 }, (_, index) => closed(`${index}`)),
      },
      'names and numbers of properties': { propertyNames: { maxLength: 9 }, minProperties: 2, maxProperties: 3 },
      'properties that no schema evaluates': { properties: { a: {} }, unevaluatedProperties: false },
    }
    for (const [what, schema] of Object.entries(schemas)) {
      test(`lists its keys once to check ${what}`, () => {
        let lists = 0
        const value = new Proxy({ a: 'a', ...names(5000) }, { ownKeys: (all) => ((lists += 1), Reflect.ownKeys(all)) })
        const found = makeSchemaCache().validator(schema, {}, 'body')(value, getMaxSteps(mb), mb)
        assert.notEqual(found, undefined)
        assert.equal(lists, 1)
      })
    }

    test('does not list them if no keyword needs it', () => {
      const value = new Proxy({ ...names(5000) }, { ownKeys: () => assert.fail('they are listed') })
      const check = makeSchemaCache().validator({ required: ['a'], properties: { k1: { type: 'string' } } }, {}, 'body')
      assert.equal(check(value, getMaxSteps(mb), mb)?.length, 1)
    })

    test('stops if the properties are checked many times', () => {
      const allOf = Array.from({ length: 5 }, (_, index) => ({ additionalProperties: { minimum: -index } }))
      const check = makeSchemaCache().validator({ allOf }, {}, 'body')
      assert.match(check(names(90_000), getMaxSteps(mb), mb)?.[0]?.message ?? '', /too many steps/)
      assert.equal(check(names(9000), getMaxSteps(mb), mb), undefined)
    })
  })

  test('has as many steps for each body', () => {
    const check = makeSchemaCache().validator(alike, {}, 'body')
    const [large, small] = [alikeOf(90), alikeOf(8)]
    for (let round = 0; round < 3; round += 1) {
      assert.match(check(large, getMaxSteps(mb))?.[0]?.message ?? '', /too many steps/)
      assert.equal(check(small, getMaxSteps(mb)), undefined)
    }
  })

  test('may take more steps if bodies may be larger', async () => {
    const files = (config: string) => ({
      'waypost.yml': `
routes:
  /many:
    methods:
      POST: { public: true, request: { type: object, patternProperties: ${JSON.stringify(patterns(20))} }, action: src/count.ts }
config: { ${config} }
`,
      'src/count.ts': actionFile('return Object.keys(request.body as object).length'),
    })
    await using server = await openProjectServer({ files: files('body_limit: 1mb') })
    const request = {
      path: '/many',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(names(5000)),
    }
    const refused = await send(server.port, request)
    assert.deepEqual([refused.status, refused.body.errors.length, refused.body.errors[0].path], [400, 1, 'body'])
    await server.deploy(files('body_limit: 4mb'))
    const accepted = await send(server.port, request)
    assert.deepEqual([accepted.status, accepted.text], [200, '5000'])
  })
})

describe('a result with recursive alternatives', () => {
  const write = makeSchemaCache().serializer(formula, {})
  for (const levels of [1, 4, 5, 90]) {
    test(`is written with ${levels} levels`, () => {
      const value = formulaOf(levels, 'times')
      assert.deepEqual(JSON.parse(write(value)), value)
    })
  }

  test('is written without undeclared properties', () => {
    const value = { left: formulaOf(8, 'plus'), right: 1, operation: 'minus', more: 1 }
    assert.deepEqual(JSON.parse(write(value)), { left: value.left, right: 1, operation: 'minus' })
  })

  test('is not written if it does not match, or if its alternatives are alike and it is deep', () => {
    assert.throws(() => write(formulaOf(8, 'unknown')), /does not match its schema/)
    assert.throws(() => makeSchemaCache().serializer(alike, {})(alikeOf(90)), /too many steps/)
  })
})

test('the data of events is limited as bodies are', () => {
  const events = { counted: { scopes: [], schema: formula }, doubled: { scopes: [], schema: alike } }
  const check = makeDataCheck(makeSchemaCache(), () => ({ events, schemas: {} }))
  assert.equal(check('counted', JSON.stringify(formulaOf(90, 'times'))), undefined)
  assert.match(check('doubled', JSON.stringify(alikeOf(90)))?.[0]?.message ?? '', /too many steps/)
})

describe('the check of a query', () => {
  const parameters: readonly (readonly [text: string, type: JsonSchema])[] = [
    ['null', { type: ['integer', 'null'] }],
    ['0x1', { type: 'number' }],
    ['1e3', { type: ['integer', 'null'] }],
    ['0.5', { type: 'integer' }],
  ]
  for (const [text, additionalProperties] of parameters) {
    test(`reads a few times, however many parameters are ${text}`, () => {
      const check = makeSchemaCache().validator(
        { type: 'object', properties: { a: { type: ['string', 'null'] } }, additionalProperties },
        {},
        'query',
      )
      let reads = 0
      const sent = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, text]))
      check(new Proxy(sent, { ownKeys: (target) => ((reads += 1), Reflect.ownKeys(target)) }))
      assert.ok(reads < 20, `${reads} times`)
    })
  }
})
