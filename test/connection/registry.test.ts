import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { makeConnectionRegistry, type ConnectionRegistry, type ConnectionUse } from '../../src/connection/index.ts'
import type { ConnectionClass, OpenConnection } from '../../src/contract/index.ts'
import { joinPlugins } from '../../src/plugin/index.ts'
import { asLoaded, testServices } from '../support/plugins.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** The events in order: `open A`, `check A`, `close A`. */
let events: string[] = []
let failing: string | undefined
let unreachable: string | undefined
let opening: Promise<void> | undefined

const box: ConnectionClass<{ label: string; size: number }, string> = {
  description: 'A box',
  config: {
    type: 'object',
    required: ['label'],
    additionalProperties: false,
    properties: {
      label: { type: 'string' },
      size: { type: 'integer', minimum: 1, default: 3 },
      password: { type: 'string' },
    },
  },
  clientType: 'string',
  open({ label, size }, { name }) {
    if (label === 'throws') throw new Error('thrown at once')
    return openBox(`${name} ${label} ${size}`)
  },
}

async function openBox(client: string): Promise<OpenConnection<string>> {
  events.push(`open ${client}`)
  await opening
  if (failing !== undefined) throw new Error(failing)
  return {
    client,
    async check() {
      events.push(`check ${client}`)
      if (unreachable !== undefined) throw new Error(unreachable)
    },
    async close() {
      events.push(`close ${client}`)
      if (client.includes('sour')) throw new Error('cannot close')
    },
  }
}

const system: OpenConnection = { client: 'system', check: async () => {}, close: async () => {} }
const use = (label: string, more: object = {}): ConnectionUse => ({ class: 'box', config: { label, ...more } })
const variables = { LABEL: 'from outside', SIZE: '7', EMPTY: '' }
const warnings: string[] = []

const classes = joinPlugins(
  asLoaded([{ name: 'boxes', requires: '*', connections: { box: box as ConnectionClass } }]),
).connections

function makeRegistry(): ConnectionRegistry {
  return makeConnectionRegistry({
    variables,
    folder: '/nowhere',
    log: { debug() {}, info() {}, warn: (text: unknown) => void warnings.push(String(text)), error() {} },
    services: testServices,
    builtIn: { System: system },
  })
}

beforeEach(() => {
  events = []
  failing = unreachable = opening = undefined
})

test('a connection is opened and checked once and kept while its config is unchanged', async () => {
  const registry = makeRegistry()
  const first = await registry.acquire({ A: use('a'), B: use('b') }, classes)
  const second = await registry.acquire({ A: use('a', { size: 3 }), B: use('other') }, classes)
  assert.deepEqual(events.toSorted(), [
    'check A a 3',
    'check B b 3',
    'check B other 3',
    'open A a 3',
    'open B b 3',
    'open B other 3',
  ])
  assert.equal(first.get('A'), second.get('A'))
  assert.deepEqual([first.get('B').client, second.get('B').client], ['B b 3', 'B other 3'])
  assert.equal(first.get('System'), system)
  events = []
  await first.release()
  await first.release()
  assert.deepEqual(events, ['close B b 3'])
  assert.equal(second.get('A').client, 'A a 3')
  await second.release()
  assert.deepEqual(events, ['close B b 3', 'close A a 3', 'close B other 3'])
  await registry.close()
})

test('two names are two connections, also with the same config', async () => {
  const registry = makeRegistry()
  const set = await registry.acquire({ A: use('a'), B: use('a') }, classes)
  assert.notEqual(set.get('A'), set.get('B'))
  await registry.close()
  assert.deepEqual(events.filter((one) => one.startsWith('close')).toSorted(), ['close A a 3', 'close B a 3'])
})

test('one that is being closed is not given to the next generation', async () => {
  const registry = makeRegistry()
  const first = await registry.acquire({ A: use('a') }, classes)
  const releasing = first.release()
  const second = await registry.acquire({ A: use('a') }, classes)
  await releasing
  assert.deepEqual(events.toSorted(), ['check A a 3', 'check A a 3', 'close A a 3', 'open A a 3', 'open A a 3'])
  assert.equal(second.get('A').client, 'A a 3')
  await registry.close()
})

test('variables are resolved, converted to the type of the schema, and distinguish configs', async () => {
  const registry = makeRegistry()
  const set = await registry.acquire(
    { A: { class: 'box', config: { label: '${env.LABEL}', size: '${env.SIZE}' } } },
    classes,
  )
  assert.equal(set.get('A').client, 'A from outside 7')
  const other = await registry.acquire(
    {
      A: { class: 'box', config: { label: '${env.LABEL}', size: '${env.NONE:-8}' } },
    },
    classes,
  )
  assert.equal(other.get('A').client, 'A from outside 8')
  await registry.close()
})

for (const [what, uses, code, message] of [
  [
    'a class that no plugin has',
    { A: { class: 'bocks', config: {} } },
    'WP_CONNECTION_CLASS',
    /"A" uses the class "bocks"/,
  ],
  [
    'a class by a name of the prototype',
    { A: { class: 'constructor', config: {} } },
    'WP_CONNECTION_CLASS',
    /"constructor"/,
  ],
  [
    'a variable that is not set',
    { A: use('${env.NONE} ${env.EMPTY}') },
    'WP_CONNECTION_VARIABLE',
    /"A" requires variables that are not set: NONE, EMPTY/,
  ],
  [
    'a config that does not match',
    { A: use('a', { size: '${env.LABEL}' }) },
    'WP_CONNECTION_CONFIG',
    /"A" does not match the class "box": size must be integer$/,
  ],
  [
    'a config with too much',
    { A: use('a', { passwort: 'geheim' }) },
    'WP_CONNECTION_CONFIG',
    /must NOT have additional properties$/,
  ],
] as const) {
  test(`${what} prevents a generation from starting, and opens nothing`, async () => {
    const registry = makeRegistry()
    await assert.rejects(registry.acquire({ Good: use('good'), ...uses }, classes), { code, message })
    await pause(5)
    assert.deepEqual(events, [])
    await registry.close()
  })
}

test('one that cannot be opened is down, others work, and it is tried again at each use', async () => {
  const registry = makeRegistry()
  const good = await registry.acquire({ Good: use('good') }, classes)
  failing = 'nobody there'
  const set = await registry.acquire({ Good: use('good'), A: use('a'), B: use('throws') }, classes)
  assert.deepEqual(Object.fromEntries(set.down), { A: 'nobody there', B: 'thrown at once' })
  assert.equal(set.get('Good'), good.get('Good'))
  events = []
  for (let turn = 0; turn < 2; turn += 1) {
    assert.throws(() => set.get('A'), {
      code: 'WP_CONNECTION_DOWN',
      status: 503,
      retryAfterSeconds: 1,
      message: /^Cannot open the connection "A": nobody there/,
    })
    assert.throws(() => set.get('A'), { code: 'WP_CONNECTION_DOWN' })
    await pause(1)
  }
  assert.deepEqual(events, ['open A a 3', 'open A a 3'], 'once at a time')
  failing = undefined
  assert.throws(() => set.get('A'), { code: 'WP_CONNECTION_DOWN' })
  await pause(1)
  assert.equal(set.get('A').client, 'A a 3')
  await registry.close()
})

test('a connection that opens but does not respond is reported as down, and may respond later', async () => {
  const registry = makeRegistry()
  unreachable = 'no route to host'
  const set = await registry.acquire({ A: use('a') }, classes)
  assert.deepEqual(Object.fromEntries(set.down), { A: 'no route to host' })
  assert.equal(set.get('A').client, 'A a 3')
  assert.equal(
    (await registry.acquire({ A: use('a') }, classes)).down.size,
    0,
    'the next generation does not ask it again',
  )
  await registry.close()
})

test('one that hangs does not block a generation forever, and is closed if it opens too late', async () => {
  const registry = makeRegistry()
  const { promise, resolve } = Promise.withResolvers<void>()
  opening = promise
  const set = await registry.acquire({ A: use('a') }, classes)
  assert.deepEqual(Object.fromEntries(set.down), { A: 'it is being opened' })
  assert.throws(() => set.get('A'), { code: 'WP_CONNECTION_DOWN', message: /it is being opened/ })
  const released = set.release()
  resolve()
  await released
  assert.deepEqual(
    events.filter((one) => !one.startsWith('check')),
    ['open A a 3', 'close A a 3'],
  )
})

test('no connection is opened after its generation has released it', async () => {
  const registry = makeRegistry()
  failing = 'nobody there'
  const set = await registry.acquire({ A: use('a') }, classes)
  await set.release()
  failing = undefined
  events = []
  assert.throws(() => set.get('A'), { code: 'WP_CONNECTION_DOWN' })
  await pause(5)
  assert.deepEqual(events, [])
  await registry.close()
})

test('one that cannot be closed is a line in the log', async () => {
  const registry = makeRegistry()
  const set = await registry.acquire({ A: use('sour') }, classes)
  await set.release()
  assert.deepEqual(warnings, ['closing the connection "A" of the plugin "boxes" failed: cannot close'])
})

test('a connection that is not named is said with the nearest name', async () => {
  const registry = makeRegistry()
  const set = await registry.acquire({ Orders: use('a') }, classes)
  assert.throws(() => set.get('Order'), { code: 'WP_CONNECTION_UNKNOWN', hint: 'Did you mean "Orders"?' })
  assert.throws(() => set.get('Sistem'), { code: 'WP_CONNECTION_UNKNOWN', hint: 'Did you mean "System"?' })
  assert.throws(() => set.get('constructor'), {
    code: 'WP_CONNECTION_UNKNOWN',
    hint: 'Declare it under "connection:" in waypost.yml.',
  })
  await registry.close()
})
