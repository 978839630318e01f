import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchema } from '../../../src/contract/index.ts'
import { compareManifests, type Manifest } from '../../../src/release/index.ts'
import { makeManifest, named, object, tell } from './manifests.ts'

const text: JsonSchema = { type: 'string' }
const integer: JsonSchema = { type: 'integer' }
const to = (name: string): JsonSchema => ({ $ref: `schema:///${name}` })

test('a change of a named schema is reported once, for the schema, with its effects', () => {
  const sending = (schema: JsonSchema) => makeManifest({ request: to('Order') }, named({ Order: schema }))
  assert.deepEqual(tell(sending(object({ a: text })), sending(object({ a: text, b: text }, ['b']))), [
    '! schema Order "b" added and required (POST /order)',
  ])
})

test('a change that breaks senders does not break receivers', () => {
  const getting = (schema: JsonSchema) => makeManifest({ responses: { 200: to('Order') } }, named({ Order: schema }))
  assert.deepEqual(tell(getting(object({ a: text })), getting(object({ a: text, b: text }, ['b']))), [
    'schema Order "b" added',
  ])
  assert.deepEqual(tell(getting(object({ a: text })), getting(object({}))), [
    '! schema Order "a" removed (POST /order)',
  ])
})

test('a schema that is reached through others breaks the users of those', () => {
  const listing = (schema: JsonSchema) =>
    makeManifest(
      { responses: { 200: to('List') } },
      named({ List: object({ entry: { type: 'array', items: to('Order') } }), Order: schema }),
    )
  assert.deepEqual(tell(listing(object({ a: text })), listing(object({ a: integer }))), [
    '! schema Order "a" is integer, was string (POST /order)',
  ])
})

test('a schema that holds itself comes to an end', () => {
  const tree = (schema: JsonSchema) =>
    makeManifest(
      { request: to('Tree') },
      named({ Tree: object({ name: schema, children: { type: 'array', items: to('Tree') } }) }),
    )
  assert.deepEqual(tell(tree(text), tree(integer)), ['! schema Tree "name" is integer, was string (POST /order)'])
  const local = (schema: JsonSchema) => makeManifest({ request: object({ name: schema, child: { $ref: '#' } }) })
  assert.deepEqual(tell(local(text), local(integer)), [
    '! request: "name" is integer, was string',
    '! request: "child.name" is integer, was string',
  ])
})

test('a change of an unused schema breaks nothing', () => {
  const holding = (schema: JsonSchema) => makeManifest({}, named({ Order: schema }))
  assert.deepEqual(tell(holding(object({ a: text })), holding(object({ a: integer }))), [
    'schema Order "a" is integer, was string',
  ])
})

test('a change of a part of a schema is reported for all its users', () => {
  const pointing = (schema: JsonSchema) =>
    makeManifest({ request: { $ref: 'schema:///Parts#/$defs/order' } }, named({ Parts: { $defs: { order: schema } } }))
  assert.deepEqual(tell(pointing(object({ a: text })), pointing(object({ a: integer }))), [
    '! request: "a" is integer, was string',
    'schema Parts rewritten without a change of meaning',
  ])
})

test('a changed reference is compared with its previous target', () => {
  const schemas = named({ Old: object({ a: text }), Same: object({ a: text }), Other: object({ a: integer }) })
  const sending = (name: string): Manifest => makeManifest({ request: to(name) }, schemas)
  assert.deepEqual(tell(sending('Old'), sending('Same')), ['request: rewritten without a change of meaning'])
  assert.deepEqual(tell(sending('Old'), sending('Other')), ['! request: "a" is integer, was string'])
})

test('subscribers of an event are callers too', () => {
  const dispatching = (event: Manifest['events'][string], schema: JsonSchema = object({ a: text })) =>
    makeManifest({}, { schemas: { Order: schema }, events: { made: event } })
  const ofOrder = { schema: to('Order') }
  assert.deepEqual(tell(dispatching(ofOrder), dispatching(ofOrder, object({}))), [
    '! schema Order "a" removed (event made)',
  ])
  assert.deepEqual(tell(dispatching({ schema: object({ a: text }) }), dispatching({ schema: object({}) })), [
    '! event made data: "a" removed',
  ])
  assert.deepEqual(tell(dispatching({}), dispatching({ scopes: ['order'] })), [
    '! event made subscribers now need scope order',
  ])
  assert.deepEqual(tell(dispatching({ scopes: ['order'] }), dispatching({ scopes: ['order', 'more'] })), [
    'event made subscribers now need scope more or order, was order',
  ])
  assert.deepEqual(tell(dispatching({}), makeManifest({}, { schemas: { Order: object({ a: text }) } })), [
    '! event made subscribers no longer receive it',
  ])
})

test('a rate that becomes lower breaks the routes that have it', () => {
  const limited = (limit: number) =>
    makeManifest({ rate: 'few' }, { rates: { few: { limit, windowMs: 1000, by: 'address' } } })
  assert.deepEqual(tell(limited(9), limited(5)), [
    '! rate few 5 per 1 s per address, was 9 per 1 s per address (POST /order)',
  ])
  assert.deepEqual(tell(limited(5), limited(9)), ['rate few 9 per 1 s per address, was 5 per 1 s per address'])
})

test('a rate that is counted across all servers lets fewer requests pass', () => {
  const counted = (connection?: string) =>
    makeManifest(
      { rate: 'few' },
      {
        rates: {
          few: { limit: 5, windowMs: 1000, by: 'address', ...(connection === undefined ? {} : { connection }) },
        },
      },
    )
  const [alone, together] = ['5 per 1 s per address', '5 per 1 s per address across all servers (Cache)']
  assert.deepEqual(tell(counted(), counted('Cache')), [`! rate few ${together}, was ${alone} (POST /order)`])
  assert.deepEqual(tell(counted('Cache'), counted()), [`rate few ${alone}, was ${together}`])
  assert.deepEqual(tell(counted('Cache'), counted('Other')), [
    `rate few ${together.replace('Cache', 'Other')}, was ${together}`,
  ])
})

test('settings that reject calls break callers', () => {
  const set = (config: Manifest['config']) => makeManifest({}, { config })
  assert.deepEqual(tell(set({}), set({ body_limit: '10kb', token_lifetime: '30m' })), [
    '! setting body_limit default → 10kb',
    'setting token_lifetime default → 30m',
  ])
  assert.deepEqual(
    tell(set({ cors: ['https://a.example', 'https://b.example'] }), set({ cors: ['https://a.example'] })),
    ['! setting cors ["https://a.example","https://b.example"] → ["https://a.example"]'],
  )
  assert.deepEqual(tell(set({ body_limit: '10kb' }), set({})), ['setting body_limit 10kb → default'])
  assert.deepEqual(tell(set({ registration: true }), set({})), ['! setting registration true → default'])
  assert.deepEqual(tell(set({}), set({ registration: true })), ['setting registration default → true'])
  assert.deepEqual(tell(set({ delivery_allow: ['10.0.0.0/8'] }), set({ delivery_allow: ['10.1.0.0/16'] })), [
    '! setting delivery_allow ["10.0.0.0/8"] → ["10.1.0.0/16"]',
  ])
  assert.deepEqual(tell(set({}), set({ delivery_allow: ['10.0.0.0/8'] })), [
    'setting delivery_allow default → ["10.0.0.0/8"]',
  ])
})

test('config values are never shown', () => {
  const connecting = (password: string) =>
    makeManifest({}, { connections: { Orders: { class: 'postgresql', config: { host: 'a', password } } } })
  const changes = compareManifests(connecting('quiet'), connecting('otter'))
  assert.deepEqual(changes[0]?.details, [{ text: 'config: password', breaking: false }])
  assert.doesNotMatch(JSON.stringify(changes), /quiet|otter/)
})

test('a variable lists its uses', () => {
  const using = makeManifest(
    { action: { class: 'sql', config: { table: '${env.TABLE}' } } },
    {
      connections: { Orders: { class: 'postgresql', config: { url: 'postgresql://${env.HOST}/x' } } },
      config: { docs: '${env.DOCS:-public}' },
      variables: { TABLE: { optional: false }, HOST: { optional: false }, DOCS: { optional: true } },
    },
  )
  assert.deepEqual(
    tell(makeManifest({ action: { class: 'sql', config: { table: '${env.TABLE}' } } }), using).filter((line) =>
      line.startsWith('variable'),
    ),
    [
      'variable DOCS used by setting docs',
      'variable HOST used by connection Orders',
      'variable TABLE used by route POST /order',
    ],
  )
})

test('a declared variable shows what changes for the servers', () => {
  const manifest = (variables: Manifest['variables']) => makeManifest({}, { variables })
  const key: Manifest['variables'] = { KEY: { optional: false, declared: { type: 'string', secret: true } } }
  const most: Manifest['variables'] = { MOST: { optional: true, declared: { type: 'integer', default: 5 } } }
  const variablesOf = (before: Manifest['variables'], after: Manifest['variables']) =>
    tell(manifest(before), manifest(after)).filter((line) => line.startsWith('variable'))
  assert.deepEqual(variablesOf({}, { ...key, ...most }), [
    'variable KEY string for actions, secret, must be set',
    'variable MOST integer for actions, default 5',
  ])
  assert.deepEqual(
    variablesOf(
      { ...key, ...most, OLD: key['KEY']!, NEW: { optional: false } },
      {
        KEY: { optional: true, declared: { type: 'string', description: 'A key', default: '' } },
        MOST: { optional: true, declared: { type: 'integer', default: 6 } },
        OLD: { optional: false },
        NEW: { optional: false, declared: { type: 'boolean' } },
      },
    ),
    [
      'variable KEY default "" added',
      'variable KEY description',
      'variable KEY no longer secret',
      'variable KEY now has a default',
      'variable MOST default 6, was 5',
      'variable NEW boolean for actions, must be set',
      'variable OLD no longer read by actions',
    ],
  )
})

test('a default makes a required property optional for senders, and not for receivers', () => {
  const open = object({ a: { ...integer, default: 1 } }, ['a'])
  const closed = object({ a: integer }, ['a'])
  for (const part of ['request', 'query'] as const) {
    const sending = (schema: JsonSchema) => makeManifest({ [part]: to('Order') }, named({ Order: schema }))
    assert.deepEqual(tell(sending(open), sending(closed)), ['! schema Order "a" is now required (POST /order)'])
    assert.deepEqual(tell(sending(closed), sending(open)), ['schema Order "a" is now optional'])
    const inPlace = (schema: JsonSchema) => makeManifest({ [part]: schema })
    assert.deepEqual(tell(inPlace(open), inPlace(closed)), [`! ${part}: "a" is now required`])
  }
  const getting = (schema: JsonSchema) => makeManifest({ responses: { 200: to('Order') } }, named({ Order: schema }))
  assert.deepEqual(tell(getting(open), getting(closed)), ['schema Order rewritten without a change of meaning'])
})
