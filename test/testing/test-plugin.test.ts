// Each check of the contract suite, with a plugin that it must refuse, and one that it must accept.
import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { createServer, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, test } from 'node:test'
import {
  definePlugin,
  type ActionClass,
  type ConnectionClass,
  type OpenConnection,
  type Plugin,
} from '../../src/index.ts'
import { listChecks, type PluginTestOptions } from '../../src/testing/plugin-checks.ts'
import { writeFiles } from '../support/project-server.ts'
import { longTest } from '../support/forms.ts'

const limits = { loadMs: 20_000, openMs: 20_000, checkMs: 20_000, closeMs: 20_000, makeMs: 20_000 }
/** For what never ends. */
const shortLimits = { ...limits, openMs: 100, checkMs: 100, closeMs: 100, makeMs: 100 }
const never = () => new Promise<never>(() => undefined)

/** Runs the checks whose name contains a text. @returns the messages of those that fail */
async function problemsOf(
  plugin: Plugin,
  part: string,
  { isEndless = false, ...options }: Partial<PluginTestOptions> & { isEndless?: boolean } = {},
): Promise<string[]> {
  const checks = listChecks(plugin, { module: 'data:text/javascript,', ...options }, isEndless ? shortLimits : limits)
  const wanted = checks.filter(({ name }) => name.includes(part))
  assert.ok(wanted.length > 0, checks.map(({ name }) => name).join('\n'))
  const problems: string[] = []
  for (const { skip, run } of wanted) {
    assert.equal(skip, undefined)
    await run().catch((error: Error) => problems.push(error.message))
  }
  return problems
}

async function refuses(plugin: Plugin, part: string, message: RegExp, options?: Partial<PluginTestOptions>) {
  const isEndless = message.source.includes('did not finish')
  assert.match((await problemsOf(plugin, part, { ...options, isEndless })).join('\n'), message)
}

describe('the shape', () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /its default export is not an object/],
    [{ name: 'Not Valid', requires: '*' }, /its name "Not Valid" is not valid/],
    [{ name: 'x' }, /does not declare the versions of waypost/],
    [{ name: 'x', requires: '^99.0.0' }, /requires waypost \^99\.0\.0/],
    [{ name: 'x', requires: '*', actions: { a: { config: {} } } }, /its action class "a" has no make function/],
    [{ name: 'x', requires: '*', actions: 7 }, /its action classes are not an object/],
  ]
  for (const [plugin, message] of cases) test(String(message), () => refuses(plugin as Plugin, 'is a plugin', message))
})

const base = { name: 'sample', requires: '^1.0.0' }

test('a config schema that is not valid, and a config that does not match, are refused', async () => {
  const name = 'has a valid config schema'
  await refuses(definePlugin({ ...base, config: { type: 'nothing' } }), name, /config schema that is not valid/)
  const sized = definePlugin({ ...base, config: { type: 'object', properties: { size: { type: 'integer' } } } })
  await refuses(sized, name, /"config\/size" must be/, { config: { size: 'wide' } })
  assert.deepEqual(await problemsOf(sized, name, { config: { size: 3 } }), [])
})

describe('loading', () => {
  const together: Readonly<Record<string, RegExp>> = {
    'export const home = process.env.GEO_KEY': /reads the variable GEO_KEY/,
    'globalThis.geo = 1': /sets the global geo/,
    'setInterval(() => {}, 1000).unref()': /calls setInterval/,
    [`import http from 'node:http'\nhttp.createServer().listen(0)`]: /keeps open: TCP/,
    [`fetch('http://127.0.0.1:1/').catch(() => {})`]: /calls fetch/,
    [`process.on('exit', () => {})`]: /listens to "exit"/,
    [`console.log('loaded')`]: /writes to stdout/,
    [`process.chdir('/')`]: /changes the working folder/,
  }
  const effects: Readonly<Record<string, readonly [code: string, message: RegExp]>> = {
    'reading a variable by import': [`import { env } from 'node:process'\nenv.GEO_KEY`, /reads the variable GEO_KEY/],
    'reading all variables': ['export const all = { ...process.env }', /reads the variable/],
    'the end of the process': ['process.exit(3)', /It ended the process \(exit code 3\)/],
    'an error': [`throw new Error('not today')`, /It throws: not today/],
    'other content each time': [`const names = [String(process.pid)]`, /Each load must return the same plugin/],
  }
  const module = (code: string) => `import { definePlugin } from 'waypost'
${code}
export default definePlugin({ name: 'sample', requires: '^1.0.0'${code.includes('names') ? ', config: { title: names[0] }' : ''} })
`
  test('several side effects are refused, each with its name', async () => {
    await using folder = await mkdtempDisposable(path.join(tmpdir(), 'waypost-load-'))
    const code = Object.keys(together).join('\n')
    await writeFiles(folder.path, { 'package.json': '{ "type": "module" }', 'index.js': module(code) })
    const url = pathToFileURL(path.join(folder.path, 'index.js')).href
    const [problem = ''] = await problemsOf(base, 'loads without', { module: url })
    for (const message of Object.values(together)) assert.match(problem, message)
  })
  for (const [what, [code, message]] of Object.entries(effects)) {
    const declare = what === 'the end of the process' ? test : longTest // the test above has the other ways to find them
    declare(`${what} is refused`, async () => {
      await using folder = await mkdtempDisposable(path.join(tmpdir(), 'waypost-load-'))
      await writeFiles(folder.path, { 'package.json': '{ "type": "module" }', 'index.js': module(code) })
      const url = pathToFileURL(path.join(folder.path, 'index.js')).href
      const plugin = code.includes('names') ? { ...base, config: { title: 'here' } } : base
      await refuses(plugin, 'loads without', message, { module: url })
    })
  }

  test('waiting is refused', async () => {
    const wait = 'data:text/javascript,await new Promise(() => {})'
    const check = listChecks(base, { module: wait }, { ...limits, loadMs: 1500 }).find(({ name }) =>
      name.includes('loads'),
    )
    await assert.rejects(check!.run(), /did not load within 1\.5 s/)
  })

  test('a module without side effects is accepted', async () => {
    await using folder = await mkdtempDisposable(path.join(tmpdir(), 'waypost-load-'))
    const code = `import path from 'node:path'\nimport { STATUS_CODES } from 'node:http'\nimport { readFileSync } from 'node:fs'\nreadFileSync(new URL(import.meta.url))\npath.resolve('.')`
    await writeFiles(folder.path, { 'package.json': '{ "type": "module" }', 'index.ts': module(code) })
    const url = pathToFileURL(path.join(folder.path, 'index.ts')).href
    assert.deepEqual(await problemsOf(base, 'loads without', { module: url }), [])
  })
})

/** A connection to a TCP server, which greets. Correct unless something is replaced. */
const tcp = (broken: Partial<OpenConnection> = {}, more: Partial<ConnectionClass> = {}) =>
  definePlugin({
    ...base,
    connections: {
      tcp: {
        description: 'TCP',
        config: {
          type: 'object',
          required: ['port'],
          properties: { port: { type: 'integer' } },
          additionalProperties: false,
        },
        clientType: 'object',
        async open({ port }: { port: number }) {
          const check = () =>
            new Promise<void>((resolve, reject) => {
              const socket = connect(port, '127.0.0.1')
              socket.setTimeout(1000, () => socket.destroy(new Error('no response')))
              socket.once('data', () => (socket.destroy(), resolve())).once('error', reject)
            })
          return { client: {}, check, close: async () => undefined, ...broken }
        },
        ...more,
      },
    },
  })

function startGreeter() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined).end('hello')))
  return new Promise<{ port: number } & Disposable>((resolve) =>
    server.listen(0, '127.0.0.1', () =>
      resolve({ port: (server.address() as { port: number }).port, [Symbol.dispose]: () => void server.close() }),
    ),
  )
}

describe('connections', () => {
  const down = (port: number) => ({ port })
  const isDown = 'if the system'
  const late = 'if the system does not respond'

  test('a correct one is accepted', async () => {
    using greeter = await startGreeter()
    const connections = { tcp: { config: { port: greeter.port }, down } }
    assert.deepEqual(await problemsOf(tcp(), 'connection class', { connections }), [])
  })

  test('without a sample, the checks that need it are skipped and say so', () => {
    const skipped = listChecks(tcp(), { module: '' }).flatMap(({ skip }) => skip ?? [])
    assert.deepEqual(
      [...new Set(skipped)],
      ['Pass connections: { tcp: { config } } to check it', 'Pass connections: { tcp: { down } } to check it'],
    )
  })

  test('each defect is refused', async () => {
    using greeter = await startGreeter()
    const sample = { connections: { tcp: { config: { port: greeter.port }, down } } }
    const at = (part: string, message: RegExp, plugin: Plugin) => refuses(plugin, part, message, sample)
    await at('has a description', /needs a description/, tcp({}, { description: undefined as never }))
    await at('has a description', /needs a clientType/, tcp({}, { clientType: undefined as never }))
    await at('has a description', /publish is not a capability/, tcp({}, { capabilities: ['publish'] as never }))
    await at('has a description', /config schema that is not valid/, tcp({}, { config: { type: 'nothing' } }))
    await at('that it declares', /the capability count/, tcp({}, { capabilities: ['count'] }))
    await at('that it declares', /the capability count/, tcp({ count: never }))
    await at('closed twice', /check\(\) did not finish within/, tcp({ check: never }))
    await at('closed twice', /close\(\) did not finish within/, tcp({ close: never }))
    await at('closed twice', /open\(\) did not finish within/, tcp({}, { open: never }))
    await at('closed twice', /without check\(\)/, tcp({ check: undefined as never }))
    let closed = 0
    const once = async () => assert.ok((closed += 1) === 1, 'closed already')
    await at('closed twice', /closed already/, tcp({ close: once }))
    await at(late, /open\(\) did not finish within/, tcp({}, { open: never }))
    await at(late, /check\(\) did not finish within/, tcp({ check: never }))
    await at(isDown, /check\(\) must reject/, tcp({ check: async () => undefined }))
  })

  test('a config that does not match is refused', async () => {
    const connections = { tcp: { config: { prot: 1 } } }
    await refuses(tcp(), 'closed twice', /"port" is missing|"prot" is not a valid key/, { connections })
  })
})

describe('transactions', () => {
  /** A store in memory. The work of a transaction has a copy of it. */
  const store = (broken: (rows: { list: number[] }) => OpenConnection['transaction'] | undefined) => {
    const rows = { list: [] as number[] }
    const transaction = async (work: (client: unknown) => Promise<unknown>) => {
      const copy = { list: [...rows.list] }
      const result = await work(copy)
      rows.list = copy.list
      return result
    }
    return tcp(
      { check: async () => undefined, client: rows, transaction: (broken(rows) ?? transaction) as never },
      { capabilities: ['transaction'] },
    )
  }
  type Client = { list: number[] }
  const rows = { add: async ({ list }: Client) => list.push(1), count: async ({ list }: Client) => list.length }
  const sample = { connections: { tcp: { config: { port: 1 }, rows } } }
  const name = 'commits transactions'

  test('correct ones are accepted', async () => {
    assert.deepEqual(
      await problemsOf(
        store(() => undefined),
        name,
        sample,
      ),
      [],
    )
  })
  test('each defect is refused', async () => {
    const run = (transaction: (rows: Client) => unknown) => store(transaction as never)
    await refuses(
      run((client) => (work: (c: Client) => unknown) => work(client)),
      name,
      /must roll back/,
      sample,
    )
    await refuses(
      run(() => (work: (c: Client) => unknown) => work({ list: [] })),
      name,
      /must commit/,
      sample,
    )
    await refuses(
      run((client) => async (work: (c: Client) => unknown) => void (await work(client))),
      name,
      /must return the result/,
      sample,
    )
    const other = (client: Client) => async (work: (c: Client) => Promise<unknown>) => {
      const copy = { list: [...client.list] }
      try {
        const result = await work(copy)
        client.list = copy.list
        return result
      } catch {
        throw new Error('rolled back')
      }
    }
    await refuses(run(other), name, /must reject with the error of the work/, sample)
  })
})

describe('counts', () => {
  interface Defects {
    readonly isLost?: boolean
    readonly extends?: boolean
    readonly shared?: boolean
    readonly endless?: boolean
    readonly reset?: number
  }
  const counter = (defects: Defects, own = new Map<string, { count: number; end: number }>()) => {
    const count = async (name: string, windowMs: number) => {
      const key = defects.shared === true ? 'one' : name
      const now = performance.now()
      const before = own.get(key)
      const isOver = before === undefined || (before.end <= now && defects.endless !== true)
      const next = isOver ? { count: 1, end: now + windowMs } : { count: before.count + 1, end: before.end }
      if (defects.extends === true) next.end = now + windowMs
      if (defects.isLost === true) await new Promise((resolve) => setImmediate(resolve))
      own.set(key, next)
      return { count: next.count, resetMs: defects.reset ?? Math.max(1, Math.round(next.end - now)) }
    }
    return tcp({ check: async () => undefined, count }, { capabilities: ['count'] })
  }
  const sample = { connections: { tcp: { config: { port: 1 } } } }
  const name = 'counts atomically'

  test('a correct one is accepted', async () => {
    assert.deepEqual(await problemsOf(counter({}), name, sample), [])
  })
  test('each defect is refused', async () => {
    await refuses(counter({ isLost: true }), name, /return each number once/, sample)
    await refuses(counter({ shared: true }), name, /Each key must have its own count/, sample)
    await refuses(counter({ reset: 1e9 }), name, /resetMs must be within the window/, sample)
    await refuses(counter({ extends: true }), name, /must not extend the window/, sample)
    await refuses(counter({ endless: true }), name, /must restart at the end of the window/, sample)
    const alone = tcp({}, { capabilities: ['count'] })
    const open = async () => await counter({}).connections!['tcp']!.open({ port: 1 }, {} as never)
    await refuses(
      { ...alone, connections: { tcp: { ...alone.connections!['tcp']!, open } } },
      name,
      /return each number once/,
      sample,
    )
  })
})

/** Correct unless something is replaced. */
const greet = (broken: Partial<ActionClass> = {}) =>
  definePlugin({
    ...base,
    actions: {
      greet: {
        description: 'Greets',
        config: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
        describe: ({ name }: { name: string }) => ({
          parameters: { type: 'object', properties: { times: { type: 'integer' } } },
          responses: { 200: { type: 'object', properties: { text: { const: name } } } },
          plan: { format: 1, name },
          problems: undefined as never,
        }),
        make({ plan }: { plan: { format: number } | undefined }) {
          if (plan?.format !== 1) throw new Error('unknown format')
          return { handle: () => ({}) }
        },
        ...broken,
      } as ActionClass,
    },
  })

describe('actions', () => {
  const sample = {
    actions: { greet: [{ config: { name: 'Ann' } }, { config: { name: 'Bob' }, method: 'POST' as const }] },
  }
  const at = (part: string, message: RegExp, broken: Partial<ActionClass>) =>
    refuses(greet(broken), part, message, sample)

  test('correct ones are accepted', async () => {
    assert.deepEqual(await problemsOf(greet(), 'action class', sample), [])
  })

  test('a config that does not match is refused', async () => {
    await refuses(greet(), 'which the config matches', /"name" is missing/, {})
  })

  test('each defect of describe is refused', async () => {
    const pure = 'pure function'
    await at(pure, /return the same/, { describe: () => ({ plan: { format: 1, at: Date.now() } }) })
    await at(pure, /return the same/, { describe: () => ({ plan: { format: 1, at: Math.random() } }) })
    await at(pure, /must not change its input/, {
      describe: (config) => Object.assign(config as object, { name: 'Eve' }) && {},
    })
    await at(pure, /value at "\/plan\/at" is not/, { describe: () => ({ plan: { format: 1, at: new Date() } }) })
    await at(pure, /value at "\/plan\/at" is not/, { describe: () => ({ plan: { format: 1, at: Number.NaN } }) })
    await at(pure, /value at "\/plan\/at" is not/, { describe: () => ({ plan: { format: 1, at: () => 1 } }) })
    await at(pure, /must be synchronous/, { describe: (async () => ({})) as never })
    const valid = 'with valid schemas'
    await at(valid, /describes an invalid schema/, { describe: () => ({ request: { type: 'nothing' } }) })
    await at(valid, /must contain a JSON Schema for each status/, { describe: () => ({ responses: { ok: {} } }) })
    await at(valid, /"plan" must be an object with a number "format"/, { describe: () => ({ plan: {} as never }) })
    await at(valid, /not a good name/, {
      describe: () => ({ problems: [{ at: '/name', message: 'not a good name' }] }),
    })
    await at(valid, /cannot think/, {
      describe: () => {
        throw new Error('cannot think')
      },
    })
  })

  test('each defect of make is refused', async () => {
    await at('makes an action', /must return \{ handle \}/, { make: () => ({}) as never })
    await at('makes an action', /did not finish within/, { make: never })
    await at('makes an action', /cannot make/, {
      make: () => {
        throw new Error('cannot make')
      },
    })
    await at('another format', /must reject a plan/, { make: () => ({ handle: () => ({}) }) })
    await at('which the config matches', /needs a description/, { description: undefined as never })
    await at('which the config matches', /config schema that is not valid/, { config: { type: 'nothing' } })
  })
})
