import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionFile, openProjectServer } from '../support/project-server.ts'
import { until } from '../support/until.ts'

const route = (file: string) => `{ methods: { GET: { public: true, response: {}, action: src/${file}.ts } } }`
const shared = "const shared = (globalThis as any)[Symbol.for('waypost.test.stop-streams')]"
const files = {
  'waypost.yml': `routes:
  /events: ${route('events')}
  /quiet: ${route('quiet')}
  /rows: ${route('rows')}
  /download: ${route('download')}
  /lines: ${route('lines')}
  /slow: ${route('slow')}
`,
  'src/events.ts': actionFile(
    `const { signal } = context
    return context.respond(200, (async function* () {
      try {
        for (;;) {
          yield 'data: 1\\n\\n'
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        }
      } finally {
        shared.ended.push('events')
      }
    })(), { 'content-type': 'text/event-stream' })`,
    shared,
  ),
  'src/quiet.ts': actionFile(
    `const { signal } = context
    return context.respond(200, (async function* () {
      shared.begun.push('quiet')
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      shared.ended.push('quiet')
    })(), { 'content-type': 'text/event-stream' })`,
    shared,
  ),
  'src/rows.ts': actionFile(
    `return (async function* () {
      try {
        for (let row = 0; ; row += 1) {
          yield row + ' '
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      } finally {
        shared.ended.push('rows')
      }
    })()`,
    shared,
  ),
  'src/lines.ts': actionFile(
    `const { signal } = context
    return (async function* () {
      yield '1\\n'
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      yield '2\\n'
      shared.ended.push('lines')
    })()`,
    shared,
  ),
  'src/download.ts': actionFile(
    `return context.respond(200, (async function* () {
      yield 'first '
      await shared.released
      yield 'last'
    })(), { 'content-type': 'text/plain', 'content-length': '10' })`,
    shared,
  ),
  'src/slow.ts': actionFile(
    `shared.begun.push('slow')
    await shared.released
    return 'done'`,
    shared,
  ),
}

test('a shutdown ends event streams and cuts off other streams that do not end when they are told, and lets the other requests finish', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const shared = { released, begun: [] as string[], ended: [] as string[] }
  Object.assign(globalThis, { [Symbol.for('waypost.test.stop-streams')]: shared })
  const server = await openProjectServer({ files })
  const texts: Record<string, string> = {}
  /** Resolves with what a client has read, and how the response ended. */
  const read = async (path: string): Promise<string> => {
    texts[path] = ''
    try {
      const { body } = await fetch(`${server.url}${path}`)
      for await (const part of body!) texts[path] += Buffer.from(part).toString()
      return `${texts[path]} ended`
    } catch {
      return 'cut off'
    }
  }
  const paths = ['/events', '/quiet', '/rows', '/lines', '/download', '/slow']
  const reading = Object.fromEntries(paths.map((path) => [path, read(path)]))
  await until(
    'all have begun',
    () => shared.begun.length === 2 && ['/events', '/rows', '/lines', '/download'].every((path) => texts[path] !== ''),
  )
  const closed = server.server.close()
  assert.equal(await reading['/events'], 'data: 1\n\n ended')
  assert.equal(await reading['/quiet'], ' ended')
  assert.equal(await reading['/rows'], 'cut off')
  assert.equal(await reading['/lines'], '1\n2\n ended')
  await until('the actions have ended', () => shared.ended.length === 4)
  assert.deepEqual(shared.ended.toSorted(), ['events', 'lines', 'quiet', 'rows'])
  release()
  assert.equal(await reading['/download'], 'first last ended')
  assert.equal(await reading['/slow'], '"done" ended')
  await closed
  await server[Symbol.asyncDispose]()
})
