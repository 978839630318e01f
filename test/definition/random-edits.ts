import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { stringify } from 'yaml'
import type { Writable } from '../../src/definition/index.ts'
import { fc } from '../support/property.ts'
import { part, whole } from './whole-project.ts'

// Definitions and edits, chosen at random.

export type Files = ReadonlyMap<string, string>

const repository = path.join(import.meta.dirname, '../..')

function readFiles(folder: string): Files {
  const names = readdirSync(path.join(repository, folder), { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => /^(waypost\.yml|resources\/.*\.(yml|json))$/.test(name))
  return new Map(files.map((name) => [name, readFileSync(path.join(repository, folder, name), 'utf8')]))
}

const commented = `# yaml-language-server: $schema=./waypost.schema.json
# The API of a shop. ünïcode 🛒

routes: # all of them
  # the list
  /order: # orders
    scopes: [order] # who
    methods:
      # reads
      GET:
        public: true # for all
        description: |
          Lists
            all orders

          # no comment
        parameters: { startIndex: { type: integer, minimum: 0 }, "ключ": { type: string } }
        response: Order # one

      POST:
        request: 'Order'
        responses: { 201: Order } # created
        action: "src/order/insert.ts"
    # the end of /order

  # one of them
  /order/:id: !include  resources/order.yml   # its file
  /part: !include resources/all.yml#/routes/part
  # /old: !include old.yml


schema: !include resources/schema.json
# below
event:
    # wide
    made: {
      schema: Order, # the order
      # scopes
      scopes: [a, b],
    }
    gone:
      description: >-
        folded
        text
plugins:
- ./a.ts # first
# second
- name: ./b.ts
  config:
    list:
      - 1 # one
      - two
      # three
      - [3, { x: y }]
      -
        z: null
    # after
- plain
config:
  "quoted key": 'it''s'
  ? explicit
  : 1
  tilde: ~
  empty:
  keep: |+
    text

  last: "a\\tb" # end
`
const shop: Files = new Map([
  ['waypost.yml', commented],
  [
    'resources/order.yml',
    '---\n# its methods\nmethods:\n    GET: { public: true, action: src/a.ts }\n\n    # changes\n    PUT:\n        action: src/b.ts # b\n...\n',
  ],
  ['resources/all.yml', 'routes:\n  part:\n    methods: { GET: { action: a.ts } } # c\n  other: 1\nrest: # r\n  - a'],
  [
    'resources/schema.json',
    '{\n    "Order": {\n        "type": "object",\n        "properties": { "id": { "type": "integer" } }\n    },\n    "List": [1, 2, { "a": [] }],\n    "Empty": {}\n}\n',
  ],
])
const projects: readonly Files[] = [
  ...['templates/todo', 'templates/crud', 'templates/empty', 'test/fixtures/definition/todo'].map(readFiles),
  new Map([
    ['waypost.yml', whole],
    ['part.json', part],
  ]),
  shop,
  shop,
  shop,
  new Map([
    ['waypost.yml', 'routes: !include routes.json\n# only'],
    ['routes.json', '{"/a":{"methods":{"GET":{"action":"a.ts"}}}}'],
  ]),
]

const keyTexts = [
  'a',
  'b',
  '/c',
  '404',
  'x y',
  'ключ',
  '🛒',
  '__proto__',
  'a: b',
  '#',
  '- x',
  "it's",
  '"',
  '~',
  'a/b~c',
  'x\ny',
  '<<',
  '',
  'true',
  '{',
  '*x',
  '!t',
  'constructor',
]
const scalars: fc.Arbitrary<Writable> = fc.oneof(
  fc.constantFrom(
    '',
    '~',
    '404',
    'a: b',
    'a, b',
    '- x',
    '{',
    '*a',
    '!x',
    "it's",
    '"',
    'x\ny',
    'x\n',
    ' x',
    'x\n\n',
    '\n',
    '# c',
    'a #b',
    'ünï',
    '${env.A}',
    'line\n  more\nend\n',
    'tab\there',
    '%x',
    '---',
    '\u{1F6D2}\r\n',
  ),
  fc.string({ maxLength: 8 }),
  fc.integer({ min: -99, max: 999 }),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const { value: values } = fc.letrec<{ value: Writable }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 3, arbitrary: scalars },
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...keyTexts), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ) as fc.Arbitrary<Writable>,
}))

/** Random numbers that drive one edit. */
interface Dice {
  readonly way: number
  readonly steps: readonly number[]
  readonly key: string
  readonly value: Writable
}
export const dice: fc.Arbitrary<Dice> = fc.record({
  way: fc.nat(99),
  steps: fc.array(fc.nat(1000), { minLength: 8, maxLength: 8 }),
  key: fc.constantFrom(...keyTexts),
  value: values,
})

const generated = fc
  .record({
    schema: fc.dictionary(fc.constantFrom(...keyTexts), values, { maxKeys: 6, noNullPrototype: true }),
    indent: fc.constantFrom(1, 2, 3, 4),
    collectionStyle: fc.constantFrom('any' as const, 'block' as const, 'flow' as const),
    lineWidth: fc.constantFrom(0, 30),
    isJson: fc.boolean(),
  })
  // `stringify` would write it as a merge key.
  .filter(({ schema }) => !JSON.stringify(schema).includes('"<<"'))
  .map(({ schema, isJson, ...style }): Files => {
    const file = isJson ? 's.json' : 's.yml'
    const text = isJson ? JSON.stringify(schema, undefined, style.indent) : stringify({ k: schema }, style)
    return new Map([
      ['waypost.yml', `x: !include ${file}${isJson ? '' : '#/k'}\n`],
      [file, text],
    ])
  })
export const started = fc.record({
  files: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...projects) }, generated),
  isWindows: fc.boolean(),
  hasMark: fc.boolean(),
  isCut: fc.boolean(),
})

export function start({
  files,
  isWindows,
  hasMark,
  isCut,
}: {
  files: Files
  isWindows: boolean
  hasMark: boolean
  isCut: boolean
}): Files {
  return new Map(
    [...files].map(([file, text]) => {
      const cut = isCut ? text.replace(/\n$/, '') : text
      return [file, (hasMark ? '\u{FEFF}' : '') + (isWindows ? cut.replaceAll('\n', '\r\n') : cut)]
    }),
  )
}

export const isMapValue = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Chooses keys and a new value. */
export function choose(
  definition: unknown,
  { way, steps, key, value }: Dice,
): { keys: string[]; value: Writable | undefined } {
  const keys: string[] = []
  let at = definition
  for (const step of steps) {
    const names = at !== null && typeof at === 'object' ? Object.keys(at) : []
    if (names.length === 0 || (keys.length > 0 && step % 5 === 0)) break
    const name = names[step % names.length]!
    keys.push(name)
    at = (at as Record<string, unknown>)[name]
  }
  if (way < 20) return { keys: keys.length === 0 ? ['x'] : keys, value: undefined }
  if (way < 45 && isMapValue(at)) return { keys: [...keys, key], value }
  if (way < 50 && Array.isArray(at)) return { keys: [...keys, way % 2 === 0 ? '-' : String(at.length)], value }
  if (way < 85 && typeof at === 'object' && at !== null)
    return { keys, value: change(at, { way, steps, key, value }) as Writable }
  return { keys: keys.length === 0 ? [key] : keys, value }
}

/** Changes parts of a map or list. */
function change(at: object, { way, steps, key, value }: Dice): unknown {
  if (Array.isArray(at)) {
    const copy: unknown[] = [...at]
    const index = steps[0]! % (copy.length + 1)
    if (way % 3 === 0) copy.splice(index, 0, value)
    else if (way % 3 === 1) copy.splice(index, 1)
    else copy[index] = value
    return copy
  }
  const entries = Object.entries(at)
  const kept = entries.filter((_, index) => steps[index % steps.length]! % 4 !== 0)
  const changed = kept.map(
    ([name, one], index) => [name, steps[(index + 3) % steps.length]! % 4 === 0 ? value : one] as const,
  )
  const isAdded = way % 2 === 0
  return Object.fromEntries(isAdded ? [...changed.slice(0, 2), [key, value] as const, ...changed.slice(2)] : changed)
}

export function setAt(at: unknown, [key, ...below]: readonly string[], value: Writable | undefined): unknown {
  if (key === undefined) return value
  if (Array.isArray(at)) {
    const copy: unknown[] = [...at]
    const index = key === '-' ? copy.length : Number(key)
    if (below.length === 0 && value === undefined) copy.splice(index, 1)
    else copy[index] = setAt(copy[index], below, value)
    return copy
  }
  const entries = new Map(Object.entries(at ?? {}))
  if (below.length === 0 && value === undefined) entries.delete(key)
  else entries.set(key, setAt(entries.get(key), below, value))
  return Object.fromEntries(entries)
}
