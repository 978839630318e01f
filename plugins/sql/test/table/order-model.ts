import type { DatabaseKind } from 'waypost'
import { fc } from '../../../../test/support/property.ts'
import { users } from '../../../../test/support/table-api.ts'

/** A row as the database stores it. Times are in UTC with the digits of the database. */
export interface ModelRow {
  readonly id: number
  readonly user: string
  readonly deleted: boolean
  readonly version: number
  readonly values: Readonly<Record<string, unknown>>
}

const user = fc.constantFrom(users.ann, users.bob)
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 4 })
const title = fc.constantFrom('Milk', 'milk', 'MILK', 'Äpfel', 'apfel', 'zoo', '', '100%', '_', "a'b", 'a"b', '🐄', 'Z')
const time = fc
  .tuple(
    fc.constantFrom('00', '01'),
    fc.constantFrom('', '.5', '.123', '.123456', '.123457', '.999999'),
    fc.constantFrom('Z', '+02:00', '-05:30'),
  )
  .map(([second, fraction, zone]) => `2026-11-20T10:00:${second}${fraction}${zone}`)

/** Few different values, so that many rows have the same. */
const properties = {
  total: fc.integer({ min: -2, max: 2 }),
  title,
  flag: orNull(fc.boolean()),
  paid_at: orNull(time),
  due: orNull(fc.constantFrom('2026-01-01', '2026-01-31', '0099-12-31')),
  weight: orNull(fc.constantFrom(-1.5, 0, 0.1, 0.30000000000000004, 1e21, -1e-7)),
  large: orNull(fc.constantFrom(-1, 0, 5, '9007199254740993', '9007199254740992', '-9223372036854775808')),
  price: orNull(fc.constantFrom(-1.25, 0, 0.1, 99.99)),
}

export const insertion = fc.record({ user, body: fc.record(properties, { requiredKeys: ['total', 'title'] }) })

export const change = fc.record({
  method: fc.constantFrom('PATCH', 'PUT', 'DELETE', 'GET'),
  user,
  row: fc.nat({ max: 30 }),
  body: fc.record(properties, { requiredKeys: [] }),
  version: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
})
export type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

const sortable = ['insert_date', 'total', 'paid_at', 'weight', 'title', 'price', 'large', 'flag', 'due', 'id']
const several = <Value>(value: fc.Arbitrary<Value>) => fc.array(value, { minLength: 1, maxLength: 3 })
const { total, flag, due, weight, large, price } = properties
const notNull = <Value>(value: fc.Arbitrary<Value | null>) => value.filter((one): one is Value & {} => one !== null)

/** The server rejects larger numbers in queries. */
const isExact = (value: number) => Math.abs(value) < 2 ** 53

const filters: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  total: several(total),
  'total.gte': total,
  'total.lt': total,
  title: several(title.filter((one) => one !== '')),
  'title.contains': fc.constantFrom('i', 'I', 'il', '%', '_', "'", '"', 'Ä', '\\', '🐄'),
  flag: several(notNull(flag)),
  'flag.null': fc.boolean(),
  'paid_at.gt': time,
  'paid_at.lte': time,
  'paid_at.null': fc.boolean(),
  due: several(notNull(due)),
  'due.gte': notNull(due),
  weight: several(notNull(weight).filter(isExact)),
  'weight.lt': notNull(weight).filter(isExact),
  large: several(notNull(large)),
  'large.gt': notNull(large),
  'price.gte': notNull(price),
}

const chooseFilters = (names: readonly string[]): fc.Arbitrary<Readonly<Record<string, unknown>>> =>
  fc.record(Object.fromEntries(names.map((name) => [name, filters[name]!])))

export const listing = fc.record({
  user,
  sort: fc.option(
    fc
      .uniqueArray(fc.constantFrom(...sortable), { minLength: 1, maxLength: 3 })
      .chain((names) => fc.tuple(...names.map((name) => fc.constantFrom(name, `-${name}`)))),
    { nil: undefined },
  ),
  limit: fc.integer({ min: 1, max: 7 }),
  filters: fc.oneof(
    { weight: 2, arbitrary: fc.constant({}) },
    { weight: 3, arbitrary: fc.subarray(Object.keys(filters), { minLength: 1, maxLength: 2 }).chain(chooseFilters) },
  ),
})
export type Listing = typeof listing extends fc.Arbitrary<infer Value> ? Value : never

/** What a database stores for the body of a request. */
export function store(body: Readonly<Record<string, unknown>>, kind: DatabaseKind): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const stored = toComparable(name, value)
      // On SQLite, times are stored with milliseconds.
      const isCut = name === 'paid_at' && stored !== null && kind === 'sqlite'
      return [name, isCut ? `${(stored as string).slice(0, -3)}000` : stored]
    }),
  )
}

/** A value that JavaScript compares as the database does. */
function toComparable(name: string, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (name === 'large') return BigInt(value as string)
  if (name !== 'paid_at') return value
  const [, seconds, fraction = '', zone] = /^(.{19})(?:\.(\d+))?(.*)$/.exec(value as string)!
  return `${new Date(`${seconds}${zone}`).toISOString().slice(0, 20)}${fraction.padEnd(6, '0')}`
}

/** Whether a row has all the values that a list asks for. */
export function hasValues({ values }: ModelRow, filters: Listing['filters']): boolean {
  return Object.entries(filters).every(([key, given]) => {
    const [name = '', operator = 'eq'] = key.split('.')
    const value = values[name] ?? null
    if (operator === 'null') return (value === null) === given
    if (value === null) return false
    if (operator === 'contains') return (value as string).includes(String(given))
    if (operator === 'eq') return [given].flat().some((one) => toComparable(name, one) === value)
    const order = compareValues(value, toComparable(name, given))
    return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[operator]!
  })
}

/** Null is the largest value. */
export function compareValues(one: unknown, other: unknown): number {
  if (one === other) return 0
  if (one === null) return 1
  if (other === null) return -1
  return (one as number) < (other as number) ? -1 : 1
}
