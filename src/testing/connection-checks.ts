import assert from 'node:assert/strict'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectionClass, OpenConnection } from '../contract/index.ts'
import { messageOf, withDeadline } from '../kit/index.ts'
import { loadSample, prepare, type Check, type CheckContext } from './sample-project.ts'

/** How to test a connection class. */
export interface ConnectionSample {
  /** The config of a system that responds, or a function that starts one. */
  readonly config?: object | (() => object | Promise<object>)
  /** Returns the config of a system at a port of 127.0.0.1 that refuses connections, or accepts them without responding. */
  readonly down?: (port: number) => object
  /** How to store something, for the capability `transaction`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the client of any class
  readonly rows?: Rows<any>
}

interface Rows<Client> {
  /** Creates what `add` needs, for example a table. */
  prepare?(client: Client): Promise<unknown>
  add(client: Client): Promise<unknown>
  count(client: Client): Promise<number>
}

/** Lists the requirements for a connection class. */
export function listConnectionChecks(context: CheckContext, name: string, sample: ConnectionSample): readonly Check[] {
  const one = context.plugin.connections![name]!
  const of = `the connection class ${name}`
  const withConfig =
    sample.config === undefined ? { skip: `Pass connections: { ${name}: { config } } to check it` } : {}
  const withDown = sample.down === undefined ? { skip: `Pass connections: { ${name}: { down } } to check it` } : {}
  const withRows =
    sample.rows === undefined ? { skip: `Pass connections: { ${name}: { rows } } to check it` } : withConfig
  const configOf = async () => (typeof sample.config === 'function' ? sample.config() : sample.config!)
  const using = (work: (connection: OpenConnection, config: object) => Promise<void>) => async () => {
    const config = await configOf()
    const connection = await open(context, name, config)
    try {
      await work(connection, config)
    } finally {
      await close(context, connection)
    }
  }
  const has = (capability: string) => one.capabilities?.includes(capability as 'count') === true
  return [
    {
      name: `${of} has a description, a client type and a valid config schema`,
      run: () => checkClass(context, name, one),
    },
    {
      name: `${of} has the capabilities that it declares`,
      ...withConfig,
      run: using(async (connection) => {
        for (const capability of ['transaction', 'count'] as const)
          assert.equal(typeof connection[capability] === 'function', has(capability), `the capability ${capability}`)
      }),
    },
    {
      name: `${of} responds, and can be closed twice`,
      ...withConfig,
      run: using(async (connection) => {
        await settle(connection.check(), 'check()', context.limits.checkMs)
        await close(context, connection)
      }),
    },
    ...(['refuses connections', 'does not respond'] as const).map((how) => ({
      name: `${of} opens, reports the problem and closes if the system ${how}`,
      ...withDown,
      run: () => checkDown(context, name, { configOf: sample.down!, isHung: how === 'does not respond' }),
    })),
    ...(has('transaction')
      ? [
          {
            name: `${of} commits transactions, and rolls back those that fail`,
            ...withRows,
            run: using(async (connection) => {
              await settle(connection.check(), 'check()', context.limits.checkMs)
              await checkTransaction(connection, sample.rows!)
            }),
          },
        ]
      : []),
    ...(has('count')
      ? [
          {
            name: `${of} counts atomically in windows`,
            ...withConfig,
            run: using(async (connection, config) => {
              const other = await open(context, name, config)
              try {
                // A client that connects in the background may not be ready before.
                for (const one of [connection, other]) await settle(one.check(), 'check()', context.limits.checkMs)
                await checkCount([connection, other])
              } finally {
                await close(context, other)
              }
            }),
          },
        ]
      : []),
  ]
}

async function checkClass({ plugin }: CheckContext, name: string, one: ConnectionClass): Promise<void> {
  assert.equal(typeof one.description, 'string', 'It needs a description')
  assert.equal(typeof one.clientType, 'string', 'It needs a clientType')
  for (const capability of one.capabilities ?? [])
    assert.ok(['transaction', 'count'].includes(capability), `${capability} is not a capability`)
  // Whether a config matches is checked with a sample; here, an empty one only compiles the schema.
  try {
    await loadSample({ connection: { Sample: { class: name } } }, { plugin })
  } catch (error) {
    if (messageOf(error).includes('schema that is not valid')) throw error
  }
}

async function open({ plugin, limits, services }: CheckContext, name: string, config: object): Promise<OpenConnection> {
  await loadSample({ connection: { Sample: { class: name, config } } }, { plugin })
  const one = plugin.connections![name]!
  const prepared = prepare(one.config, config, `the connection class ${name}`)
  const opening = (async () => one.open(prepared, { ...services(), name: 'Sample', folder: tmpdir() }))()
  const opened = await withDeadline(opening, limits.openMs, () => undefined)
  if (opened === undefined) assert.fail(`open() did not finish within ${limits.openMs / 1000} s. Connect on first use.`)
  for (const member of ['check', 'close'] as const)
    assert.equal(typeof opened[member], 'function', `open() returned an object without ${member}()`)
  assert.ok('client' in opened, 'open() returned an object without client')
  return opened
}

async function close(context: CheckContext, connection: OpenConnection): Promise<void> {
  await settle(connection.close(), 'close()', context.limits.closeMs)
}

async function settle<Value>(work: Promise<Value>, what: string, ms: number): Promise<Value> {
  return withDeadline(work, ms, () => assert.fail(`${what} did not finish within ${ms / 1000} s`))
}

interface Down {
  readonly configOf: (port: number) => object
  /** Accepts connections and never responds; otherwise refuses them. */
  readonly isHung: boolean
}

async function checkDown(context: CheckContext, name: string, { configOf, isHung }: Down): Promise<void> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined).resume()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  if (!isHung) await new Promise((resolve) => server.close(resolve))
  try {
    const connection = await open(context, name, configOf(port))
    const checked = connection.check().then(
      () => 'resolved',
      () => 'rejected',
    )
    assert.equal(
      await settle(checked, 'check()', context.limits.checkMs),
      'rejected',
      'check() must reject if the system does not respond',
    )
    await close(context, connection)
    await close(context, connection)
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
}

async function checkTransaction(
  { client, transaction, savepoint }: OpenConnection,
  rows: Rows<unknown>,
): Promise<void> {
  await rows.prepare?.(client)
  const before = await rows.count(client)
  const result = await transaction!(async (inside) => {
    await rows.add(inside)
    return 'result'
  })
  assert.equal(result, 'result', 'transaction() must return the result of the work')
  assert.equal(await rows.count(client), before + 1, 'transaction() must commit the work')
  const failure = new Error('The work fails')
  const failing = transaction!(async (inside) => {
    await rows.add(inside)
    throw failure
  })
  await assert.rejects(failing, (error) => error === failure, 'transaction() must reject with the error of the work')
  assert.equal(await rows.count(client), before + 1, 'transaction() must roll back work that fails')
  if (savepoint === undefined) return
  await transaction!(async (inside) => {
    const failed = savepoint(inside, async () => {
      await rows.add(inside)
      throw failure
    })
    await assert.rejects(failed, (error) => error === failure, 'savepoint() must reject with the error of the work')
    await savepoint(inside, () => rows.add(inside))
  })
  assert.equal(await rows.count(client), before + 2, 'savepoint() must roll back only the work that fails')
}

const calls = 40
const windowMs = 60_000
const shortMs = 500

async function checkCount(connections: readonly OpenConnection[]): Promise<void> {
  const key = `waypost-contract-${crypto.randomUUID()}`
  const made = await Promise.all(
    Array.from({ length: calls }, (_, index) => connections[index % connections.length]!.count!(key, windowMs)),
  )
  assert.deepEqual(
    made.map(({ count }) => count).toSorted((a, b) => a - b),
    Array.from({ length: calls }, (_, index) => index + 1),
    'count() must return each number once, across all connections',
  )
  for (const { resetMs } of made)
    assert.ok(resetMs > 0 && resetMs <= windowMs, `resetMs must be within the window, and is ${resetMs}`)
  const [connection] = connections as [OpenConnection]
  await pause(50)
  const later = await connection.count!(key, windowMs)
  assert.equal(later.count, calls + 1, 'count() must continue within the window')
  const first = Math.max(...made.map(({ resetMs }) => resetMs))
  assert.ok(later.resetMs < first, 'Later calls must not extend the window: resetMs must decrease')
  assert.equal((await connection.count!(`${key}-other`, windowMs)).count, 1, 'Each key must have its own count')
  await connection.count!(`${key}-short`, shortMs)
  for (let left = 20; left > 0; left--) {
    await pause(shortMs / 2)
    if ((await connection.count!(`${key}-short`, shortMs)).count === 1) return
  }
  assert.fail('The count must restart at the end of the window')
}
