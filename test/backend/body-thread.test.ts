import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { BodyThread } from '../../src/backend/deploy/body-thread.ts'
import type { ReadResult, ReadTask } from '../../src/backend/deploy/body-worker.ts'
import { sha256 } from '../../src/kit/index.ts'
import { until } from '../support/until.ts'
import { makeExpensive, makeGreeting } from './deployers.ts'
import { longTest } from '../support/forms.ts'

const classes = { connections: {}, actions: {} }
const { manifest } = makeGreeting('hello')

function taskOf(body: unknown, task: Partial<ReadTask> = {}): ReadTask {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { bytes: new TextEncoder().encode(text), isCompressed: false, limit: 1e8, content: 'manifest', ...task }
}

const shared = new BodyThread(classes)

function read(body: unknown, task: Partial<ReadTask> = {}): Promise<ReadResult> {
  return shared.use((ask) => ask(taskOf(body, task)), bo)
}

const bo = { client: 'bo', signal: new AbortController().signal }

test('a manifest is checked, and the required parts are returned', async () => {
  const schemas = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`S${index}`, { type: 'string' }]))
  const text = JSON.stringify({ ...manifest, schemas })
  const found = await read({ protocol: 2, manifest: { ...manifest, schemas }, against: 'none' })
  assert.deepEqual(found.body, { protocol: 2, manifest: '', against: 'none' })
  assert.deepEqual([found.failure, found.manifest?.id, found.manifest?.text], [undefined, sha256(text), text])
  const { failure } = await read({ manifest: { ...manifest, schemas: { ...schemas, S7: { type: 'sting' } } } })
  assert.equal(failure?.code, 'WP_BACKEND_MANIFEST')
  assert.match(failure?.message ?? '', /\/schema\/S7.*"sting"/)
})

test('of a body there is an outline only, which is as wrong as the body', async () => {
  const keys = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, index]))
  const { body } = await read({ ...keys, long: 'x' })
  assert.equal(Object.keys(body as object).length, 8)
  const many = Array.from({ length: 5000 }, () => ({ hash: 'x'.repeat(5000), content: 'x', more: { a: { b: {} } } }))
  const { body: cut, bytes } = await read({ protocol: 2, artifacts: many }, { content: 'artifacts', limit: 1e9 })
  const { artifacts } = cut as { artifacts: readonly { hash: string }[] }
  assert.deepEqual([artifacts.length, artifacts[0]?.hash.length, bytes], [1001, 600, undefined])
  assert.deepEqual(artifacts[0], { hash: 'x'.repeat(600), content: '', more: {} })
})

test('artifacts are passed on in parts, after all of them are verified', async () => {
  const contents = ['a', 'b'.repeat(700_000), 'c'.repeat(700_000), 'd', 'é'.repeat(900_000)]
  const artifacts = contents.map((content) => ({ hash: sha256(content), content }))
  await shared.use(async (ask) => {
    const { bytes } = await ask(taskOf({ protocol: 2, artifacts }, { content: 'artifacts' }))
    assert.equal(
      bytes,
      contents.reduce((sum, content) => sum + Buffer.byteLength(content), 0),
    )
    const [first, second, third] = [await ask('next'), await ask('next'), await ask('next')]
    assert.deepEqual(first.artifacts.length, 3)
    assert.deepEqual([...first.artifacts, ...second.artifacts], artifacts)
    assert.deepEqual(third.artifacts, [])
  }, bo)
  const wrong = [...artifacts, { hash: sha256('x'), content: 'y' }]
  await shared.use(async (ask) => {
    const { failure } = await ask(taskOf({ protocol: 2, artifacts: wrong }, { content: 'artifacts' }))
    assert.equal(failure?.code, 'WP_BACKEND_ARTIFACT_HASH')
    assert.deepEqual((await ask('next')).artifacts, [])
  }, bo)
})

const refusals: readonly (readonly [
  what: string,
  body: string | Uint8Array,
  said: RegExp,
  task?: Partial<ReadTask>,
])[] = [
  ['what is not JSON', '{"a":', /not valid JSON/],
  ['an empty body', '', /not valid JSON/],
  ['a prototype', '{"manifest":{"a":[{"__proto__":1}]}}', /forbidden key/],
  ['an escaped prototype', '{"\\u005f_proto__":1}', /forbidden key/],
  ['a prototype by its constructor', '{"constructor":{"prototype":1}}', /forbidden key/],
  ['many levels', '['.repeat(1_000_000), /nested too deeply/],
  ['many values', `[${'[],'.repeat(1_000_001)}[]]`, /too many values/],
  ['what gzip did not write', '{}', /not valid gzip/, { isCompressed: true }],
]
for (const [what, body, said, task] of refusals) {
  test(`${what} is rejected`, async () => {
    const { failure } = await read(body, task)
    assert.equal(failure?.code, 'WP_BACKEND_BODY')
    assert.match(failure?.message ?? '', said)
  })
}

test('a body that unpacks to more than the limit is rejected', async () => {
  const bytes = new Uint8Array(gzipSync(Buffer.alloc(1_000_000, '[')))
  const { failure } = await read('', { bytes, isCompressed: true, limit: 999_999 })
  assert.deepEqual([failure?.code, failure?.status], ['WP_BACKEND_BODY_SIZE', 413])
})

test('a body that takes too long to check is rejected, blocks no other request, and the next body is read', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const thread = new BodyThread(classes, { timeoutMs: 10_000, idleMs: 0 })
  const slow = thread.use((ask) => ask(taskOf(makeExpensive(20_000))), bo)
  const next = thread.use((ask) => ask(taskOf('[]')), bo)
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate) // this thread is not blocked
  t.mock.timers.tick(10_000)
  await assert.rejects(slow, { code: 'WP_BACKEND_BODY', message: /takes longer than 10 s/ })
  assert.deepEqual(await next, { body: [] })
  t.mock.timers.tick(0) // ends the idle thread
})

test('a body that takes too much memory to check is rejected, and the next body is read', async () => {
  const thread = new BodyThread(classes, { timeoutMs: 60_000, memoryMb: 48, idleMs: 0 })
  const large = thread.use((ask) => ask(taskOf(makeExpensive(20_000))), bo)
  await assert.rejects(large, { code: 'WP_BACKEND_BODY', message: /too much memory/ })
  assert.deepEqual(await thread.use((ask) => ask(taskOf('[]')), bo), { body: [] })
})

test('clients take turns', async () => {
  const turns: string[] = []
  const use = async (client: string, name: string) =>
    shared.use(
      async (ask) => {
        turns.push(name)
        return ask(taskOf('[]'))
      },
      { ...bo, client },
    )
  const first = ['a1', 'a2', 'a3', 'a4'].map((name) => use('a', name))
  const later = [...['b1', 'b2'].map((name) => use('b', name)), use('c', 'c1')]
  await Promise.all([...first, ...later])
  assert.deepEqual(turns, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
})

test('the body of an abandoned request is not checked further, and the next body is read', async () => {
  const thread = new BodyThread(classes, { timeoutMs: 600_000, idleMs: 0 })
  const [running, waiting] = [new AbortController(), new AbortController()]
  const begun: string[] = []
  const use = (name: string, body: unknown, signal: AbortSignal) =>
    thread.use(
      async (ask) => {
        begun.push(name)
        return ask(taskOf(body))
      },
      { client: 'a', signal },
    )
  const results = [
    use('running', makeExpensive(50_000), running.signal),
    use('waiting', '[]', waiting.signal),
    use('last', '[]', bo.signal),
    use('gone', '[]', AbortSignal.abort()),
  ]
  const settled = Promise.allSettled(results)
  await until('it runs', () => begun.length > 0)
  waiting.abort()
  running.abort()
  const [first, second, third, fourth] = await settled
  assert.deepEqual(begun, ['running', 'last'])
  assert.deepEqual(
    [first, second, fourth].map((one) => one?.status),
    ['rejected', 'rejected', 'rejected'],
  )
  assert.deepEqual(third, { status: 'fulfilled', value: { body: [] } })
})

// In CI, the body of an abandoned request is not checked.
longTest('after its request was abandoned, no more artifacts are passed on', async () => {
  const thread = new BodyThread(classes, { idleMs: 0 })
  const leaving = new AbortController()
  const artifacts = [{ hash: sha256('a'), content: 'a' }]
  const used = thread.use(
    async (ask) => {
      await ask(taskOf({ protocol: 2, artifacts }, { content: 'artifacts' }))
      leaving.abort()
      return ask('next')
    },
    { client: 'a', signal: leaving.signal },
  )
  await assert.rejects(used, { name: 'AbortError' })
  assert.deepEqual(await thread.use((ask) => ask(taskOf('[]')), bo), { body: [] })
})
