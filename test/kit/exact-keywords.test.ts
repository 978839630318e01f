import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { _, Ajv2020, Name } from 'ajv/dist/2020.js'
import { fc, runs } from '../support/property.ts'
import { isMultipleOf, useExactKeywords } from '../../src/kit/index.ts'

test('no keyword copies the earlier errors for each further one', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, code: { source: true } })
  useExactKeywords(ajv, { _, Name })
  for (const items of [{ const: {} }, { enum: [[]] }, { multipleOf: 7 }, { uniqueItems: true }]) {
    for (const schema of [{ items }, { contains: items }]) {
      const check = ajv.compile(schema)
      check(Array.from({ length: 100 }, () => ('uniqueItems' in items ? [1, 1] : 1)))
      assert.ok(check.errors!.length >= 100)
      assert.doesNotMatch(check.source!.validateCode, /\.concat\(/)
    }
  }
})

describe('multipleOf', () => {
  test('accepts every value of up to two decimals as a multiple of 0.01, and none with a third', () => {
    for (let cents = -100_000; cents <= 1_000_000; cents += 1) {
      const text = `${cents < 0 ? '-' : ''}${Math.floor(Math.abs(cents) / 100)}.${String(Math.abs(cents) % 100).padStart(2, '0')}`
      assert.ok(isMultipleOf(Number(text), 0.01), text)
      if (cents % 7 === 0) assert.ok(!isMultipleOf(Number(`${text}1`), 0.01), `${text}1`)
    }
  })

  test('agrees with whole numbers for any decimal value and step', () => {
    const decimal = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }), fc.integer({ min: -25, max: 15 }))
    const parts = fc.record({ value: decimal, step: decimal, isMade: fc.boolean() }).map(({ value, step, isMade }) => {
      const [digits, exponent] = step
      if (!isMade) return { value, step }
      // Random numbers are hardly ever multiples: half of the values are made as one.
      const few = (digits % 1_000_000n) + 1n
      return { value: [(value[0] % 1000n) * few, exponent] as const, step: [few, exponent] as const }
    })
    fc.assert(
      fc.property(parts, ({ value, step }) => {
        const lowest = Math.min(value[1], step[1])
        const scale = ([digits, exponent]: readonly [bigint, number]) => digits * 10n ** BigInt(exponent - lowest)
        const expected = scale(value) % scale(step) === 0n
        const toNumber = ([digits, exponent]: readonly [bigint, number]) => Number(`${digits}e${exponent}`)
        assert.equal(isMultipleOf(toNumber(value), toNumber(step)), expected)
      }),
      { numRuns: runs(5000) },
    )
  })

  const cases: readonly (readonly [value: number, step: number, is: boolean])[] = [
    [0.07, 0.01, true],
    [19.99, 0.01, true],
    [-19.99, 0.01, true],
    [19.995, 0.01, false],
    [0, 0.01, true],
    [-0, 0.01, true],
    [0.3, 0.1, true],
    [0.1 + 0.2, 0.1, false],
    [4.35, 0.05, true],
    [7.5, 2.5, true],
    [7, 2.5, false],
    [1e300, 7, false],
    [7e300, 7, true],
    [1e-300, 1e-308, true],
    [5e-324, 5e-324, true],
    [1.7976931348623157e308, 0.01, true],
    [9007199254740994, 2, true],
    [9007199254740991, 2, false],
    [90071992547409.91, 0.01, true],
    [900719925474099.1, 0.01, true],
    [1e22, 1e21, true],
    [Infinity, 1, false],
    [NaN, 1, false],
  ]
  for (const [value, step, is] of cases) {
    test(`${value} is ${is ? 'a' : 'not a'} multiple of ${step}`, () => assert.equal(isMultipleOf(value, step), is))
  }
})

const ajv = new Ajv2020({ strict: false })
useExactKeywords(ajv, { _, Name })
const json = fc.jsonValue({ maxDepth: 3 })
/** With the keys of objects in another order. */
const turn = (value: unknown): unknown => changeKeys(value, (keys) => keys.toReversed())
const canonical = (value: unknown): string => JSON.stringify(changeKeys(value, (keys) => keys.toSorted()))

function changeKeys(value: unknown, change: (keys: string[]) => string[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => changeKeys(item, change))
  const of = value as Record<string, unknown>
  return Object.fromEntries(change(Object.keys(of)).map((key) => [key, changeKeys(of[key], change)]))
}

describe('const and enum', () => {
  test('agree with a comparison of canonical texts, for properties of any name too', () => {
    fc.assert(
      fc.property(json, json, json, (value, other, given) => {
        const isConst = ajv.compile({ const: value })
        assert.ok(isConst(turn(value)))
        assert.equal(isConst(given), canonical(given) === canonical(value))
        const isOne = ajv.compile({ enum: [value, other] })
        assert.ok(isOne(turn(value)) && isOne(turn(other)))
        assert.equal(isOne(given), [value, other].map(canonical).includes(canonical(given)))
      }),
      { numRuns: runs(300) },
    )
    const check = ajv.compile({ properties: { a: { const: { b: 1 } }, c: { enum: [1, { b: 1 }] } } })
    for (const name of ['valueOf', 'toString', 'constructor', '__proto__']) {
      const odd: unknown = JSON.parse(`{"${name}": null}`)
      assert.ok(!check({ a: odd }) && !check({ c: odd }), name)
    }
  })
})

describe('uniqueItems', () => {
  const check = ajv.compile({ type: 'array', uniqueItems: true })

  test('agrees with a comparison of canonical texts', () => {
    const isUnique = (items: readonly unknown[]) => new Set(items.map(canonical)).size === items.length
    fc.assert(fc.property(fc.array(json, { maxLength: 6 }), (items) => assert.equal(check(items), isUnique(items))))
    fc.assert(fc.property(json, fc.array(json), (item, others) => assert.ok(!check([item, ...others, turn(item)]))))
  })

  const cases: readonly (readonly [text: string, is: boolean])[] = [
    ['[1, 1.0]', false],
    ['[0, -0]', false],
    ['[1, "1", true, null, [1], {"a": 1}, "null", "[1]", "#0"]', true],
    ['[{"a": 1, "b": 2}, {"b": 2, "a": 1.0}]', false],
    ['[{"a": {"b": [1]}}, {"a": {"b": [1, 2]}}]', true],
    ['[{"a": [{}]}, {"a": [{}]}]', false],
    ['[{"a": "#0"}, {"a": {}}, {}]', true],
    ['[[1, 2], [2, 1], ["1,2"], [[1], 2]]', true],
    ['[{"valueOf": null}, {"toString": 1}, {"constructor": {}}, {}]', true],
    ['[{"a,b": 1}, {"a": "b"}, {"__proto__": 1}, {}]', true],
  ]
  for (const [text, is] of cases) {
    test(`${text} ${is ? 'are unique' : 'are not unique'}`, () => assert.equal(check(JSON.parse(text)), is))
  }

  test('reports which items are equal', () => {
    assert.ok(!check([{}, { a: 1 }, 'x', { a: 1 }]))
    const [error] = check.errors!
    assert.deepEqual(
      [error?.keyword, error?.message, error?.instancePath],
      ['uniqueItems', 'must NOT have duplicate items (items ## 3 and 1 are identical)', ''],
    )
  })

  test('compares numbers, not texts of the items', (t) => {
    const stringify = t.mock.method(JSON, 'stringify')
    assert.ok(check(Array.from({ length: 1000 }, (_, n) => ({ a: n, b: [n, 'x'] }))))
    assert.equal(stringify.mock.callCount(), 0)
  })

  test('distinguishes items with the same hash', () => {
    // About ten pairs of so many items have the same 32-bit hash.
    assert.ok(check(Array.from({ length: 300_000 }, (_, n) => n / 7)))
  })

  test('takes steps for each comparison of items whose hashes a client made equal', () => {
    // Differences in the two halves of a number that cancel each other in MurmurHash3, whatever the seed is.
    const invert = (odd: number) => [1, 2, 3, 4, 5].reduce((x) => Math.imul(x, 2 - Math.imul(odd, x)), odd)
    const rotate = (x: number, by: number) => (x << by) | (x >>> (32 - by))
    const scramble = (x: number) => Math.imul(rotate(Math.imul(x, 0xcc9e2d51), 15), 0x1b873593)
    const restore = (x: number) => Math.imul(rotate(Math.imul(x, invert(0x1b873593)), 17), invert(0xcc9e2d51))
    const toNumber = (...halves: number[]) => new Float64Array(new Int32Array(halves).buffer)[0]!
    const pairs = Array.from({ length: 1000 }, (_, n) => {
      const [low, high] = [n * 7919, (n + 1) * 1_000_003]
      return [
        toNumber(low, high),
        toNumber(restore(scramble(low) ^ 0x0004_0000), restore(scramble(high) ^ 0x8000_0000)),
      ] as const
    }).filter((pair) => pair.every(Number.isFinite))
    const items = Array.from({ length: 2 ** 10 }, (_, bits) =>
      pairs.slice(0, 10).map((pair, at) => pair[(bits >> at) & 1]),
    )
    let steps = 0
    const counting = new Ajv2020({ strict: false })
    useExactKeywords(counting, { _, Name }, (more) => (steps += more))
    const counted = counting.compile({ uniqueItems: true })
    assert.ok(counted(items))
    assert.ok(steps > (items.length * items.length) / 2, `${steps} steps`)
    steps = 0
    assert.ok(counted(Array.from({ length: 1000 }, (_, n) => [n / 7, 'x'])))
    assert.ok(steps < 5000, `${steps} steps`)
    steps = 0
    assert.ok(counted(pairs.slice(0, 100).flat()))
    assert.ok(steps >= 100, `${steps} steps`)
  })

  test('reads an item that has changed since the last check', () => {
    const item = { a: 1 }
    const items = [
      [item, 1],
      [{ a: 1 }, 1],
    ]
    const nested = ajv.compile({ uniqueItems: true, items: { uniqueItems: true } })
    assert.ok(!nested(items))
    item.a = 2
    assert.ok(nested(items))
  })

  test('reads each value once, however deep it is in lists that must be unique', () => {
    let reads = 0
    const counted = () => new Proxy({ a: 1 }, { ownKeys: (target) => ((reads += 1), Reflect.ownKeys(target)) })
    const nested = ajv.compile({ $id: 'nested', uniqueItems: true, items: { $ref: '#' } })
    const items = Array.from({ length: 1000 }, (_, n) => [counted(), n])
    let value: unknown[] = items
    for (let level = 0; level < 50; level += 1) value = [value, level]
    assert.ok(nested(value))
    assert.equal(reads, 1000)
  })
})
