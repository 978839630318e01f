import assert from 'node:assert/strict'
import { test } from 'node:test'
import { awaitServers, type AwaitServersOptions, type LiveServer } from '../../src/release/index.ts'
import { errors } from '../../src/store/sql/errors.ts'

const server = (id: string, more: Partial<LiveServer>): LiveServer => ({
  id,
  name: `app-${id}`,
  version: '1.0.0',
  release: 'old',
  wanted: 'old',
  state: 'serving',
  error: null,
  issuer: null,
  ...more,
})
const swapping = { state: 'swapping', wanted: 'new' }
const serving = { release: 'new', wanted: 'new' }
const failed = { state: 'failed', wanted: 'new', error: 'No variable ORDERS_URL' }

/** Waits over the given states, the last of which stays. Each check takes a second of a fake clock. */
async function wait(looks: readonly (readonly LiveServer[] | Error)[], more: Partial<AwaitServersOptions> = {}) {
  let asked = 0
  const outcomes = await awaitServers({
    release: 'new',
    limitMs: 30_000,
    intervalMs: 0,
    clock: { monotonic: () => asked * 1000 },
    async list() {
      const look = looks[Math.min(asked++, looks.length - 1)]!
      if (look instanceof Error) throw look
      return look
    },
    ...more,
  })
  return { asked, outcomes, told: outcomes.map(({ name, state, ms }) => `${name} ${state} ${ms}`) }
}

test('waits until every server serves the release, and reports the time of each', async () => {
  const { told, asked } = await wait([
    [server('1', {}), server('2', {})],
    [server('1', serving), server('2', swapping)],
    [server('1', serving), server('2', serving)],
  ])
  assert.deepEqual([asked, told], [3, ['app-1 serving 2000', 'app-2 serving 3000']])
})

test('does not wait for a server that reports why it failed to start the release; it continues to serve the previous one', async () => {
  const { outcomes, asked } = await wait([[server('1', serving), server('2', failed)]])
  assert.equal(asked, 1)
  assert.deepEqual(outcomes[1], {
    name: 'app-2',
    state: 'failed',
    release: 'old',
    error: 'No variable ORDERS_URL',
    ms: 1000,
  })
})

test('the outcome of the previous release on a server does not count', async () => {
  const { told } = await wait([
    [server('1', { state: 'failed', wanted: 'older', error: 'Broken' })],
    [server('1', swapping)],
    [server('1', serving)],
  ])
  assert.deepEqual(told, ['app-1 serving 3000'])
})

test('a server that rolls back to its served release must report that it has recovered', async () => {
  const back = { release: 'new', state: 'failed', wanted: 'other', error: 'Broken' }
  assert.equal((await wait([[server('1', back)], [server('1', serving)]])).asked, 2)
})

test('servers that stop during the wait are not awaited, new ones are', async () => {
  const { told } = await wait([
    [server('1', serving), server('2', {}), server('3', {})],
    [server('1', serving), server('2', { state: 'stopping' }), server('4', { state: 'starting', release: null })],
    [server('1', serving), server('4', serving)],
  ])
  assert.deepEqual(told, ['app-1 serving 1000', 'app-4 serving 3000'])
})

test('without servers it does not wait', async () => {
  assert.deepEqual(await wait([[]]), { asked: 1, outcomes: [], told: [] })
})

test('a server that has not come so far in time is late, and the others keep their times', async () => {
  const { told } = await wait([[server('1', serving), server('2', swapping)]], { limitMs: 5000 })
  assert.deepEqual(told, ['app-1 serving 1000', 'app-2 late 1000'])
})

test('an interrupt returns the current state', async () => {
  const { told, asked } = await wait([[server('1', swapping)]], { signal: AbortSignal.abort() })
  assert.deepEqual([asked, told], [1, ['app-1 late 1000']])
})

test('a System that is unavailable for a moment is retried, and other errors are thrown', async () => {
  const away = errors.WP_STORE_UNREACHABLE({ database: 'db', host: 'db.internal', reason: 'away' })
  assert.equal((await wait([away, away, [server('1', serving)]])).asked, 3)
  await assert.rejects(wait([away], { limitMs: 5000 }), { code: 'WP_STORE_UNREACHABLE' })
  await assert.rejects(wait([new TypeError('a bug')]), TypeError)
})

test('ends as soon as another release was activated, and says which', async () => {
  let asked = 0
  const loadActiveId = async () => (++asked < 3 ? 'new' : 'newer')
  await assert.rejects(wait([[server('1', swapping)]], { loadActiveId }), {
    code: 'WP_RELEASE_REPLACED',
    message: 'The release new was activated, and then superseded by newer',
  })
  assert.equal(asked, 3)
  const served = await wait([[server('1', serving)]], { loadActiveId: async () => 'newer' })
  assert.equal(served.outcomes[0]!.state, 'serving', 'it was served before it was superseded')
})
