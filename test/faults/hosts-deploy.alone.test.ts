// Releases are activated while three servers behind a proxy are asked without a break.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { System } from '../../src/store/index.ts'
import type { Serving } from '../e2e/serving.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { startLoad, type LoadAnswer } from '../support/steady-load.ts'
import { openHosts, type Hosts } from './hosts.ts'
import { openLane, type Lane } from './lane.ts'
import { openRoundRobin, type RoundRobin } from './round-robin.ts'

/** How long after the commit of an activation a server may serve the release before. */
const limitMs = 2000
const names = ['zero', 'one', 'two']

describe('three servers behind a proxy', { concurrency: 1 }, () => {
  let postgres: TestPostgres
  let hosts: Hosts
  let servers: readonly Serving[]
  let proxy: RoundRobin
  before(async () => {
    postgres = await startPostgres()
    hosts = await openHosts({ url: await postgres.createDatabase() })
    await hosts.deploy(names[0]!)
    servers = await Promise.all([hosts.serve(), hosts.serve(), hosts.serve()])
    proxy = await openRoundRobin(servers.map(({ port }) => port))
  })
  after(async () => {
    await proxy.close()
    await hosts[Symbol.asyncDispose]()
    await postgres.stop()
  })

  test('take over each release within 2 s of its activation, and lose no request meanwhile', async (t) => {
    const load = startLoad({ port: proxy.port, path: '/version', perSecond: 150, newConnectionEach: 5, judge })
    const lanes = servers.flatMap(({ port }) => [
      openLane(port, { path: '/version' }),
      openLane(port, { path: '/slow' }),
      openLane(port, { path: '/echo', body: { text: 'x'.repeat(20_000) } }),
    ])
    try {
      for (const name of names.slice(1)) {
        const activation = watchActivation(hosts.system)
        const { servers: told } = await hosts.deploy(name)
        assert.deepEqual(
          told.map(({ state }) => state),
          ['serving', 'serving', 'serving'],
        )
        const committed = await activation
        await pause(Math.max(0, committed + limitMs - performance.now()))
        await seenOnAll(lanes)
        const late = lanes.map((lane) => lastOfOthers(lane, name) - committed)
        t.diagnostic(`${name}: the release before until ${late.map((ms) => ms.toFixed(0)).join(', ')} ms`)
        assert.ok(late.every((ms) => ms < limitMs))
      }
    } finally {
      await Promise.all(lanes.map((lane) => lane.stop()))
    }
    const { sent, failures } = await load.stop()
    const answered = lanes.reduce((sum, { asked }) => sum + asked.length, 0)
    t.diagnostic(`${sent} requests through the proxy, ${answered} beside it`)
    assert.deepEqual(failures, [])
    assert.ok(proxy.counts.every((count) => count > 10))
    for (const lane of lanes) assertInOrder(lane)
  })
})

function judge({ status, text }: LoadAnswer): string | undefined {
  return status === 200 && names.includes(JSON.parse(text).release) ? undefined : `${status} ${text}`
}

/** The latest moment at which another release can have been committed for that is active when it is called. */
async function watchActivation(system: System): Promise<number> {
  const read = () => system.guardDb.selectFrom('waypost_active').select('release_id').executeTakeFirst()
  const before = await read()
  for (let lastBegan = performance.now(); ; await pause(3)) {
    const began = performance.now()
    if ((await read())?.release_id !== before?.release_id) return lastBegan
    lastBegan = began
  }
}

/** Waits until a request of each lane that begins from now on is answered. */
async function seenOnAll(lanes: readonly Lane[]): Promise<void> {
  const since = performance.now()
  while (lanes.some(({ asked }) => (asked.at(-1)?.began ?? 0) < since)) await pause(5)
}

/** When the last request began that another release answered. */
function lastOfOthers({ asked }: Lane, name: string): number {
  return Math.max(0, ...asked.flatMap(({ began, answer }) => (answer?.body.release === name ? [] : [began])))
}

/** Fails where a request was lost, or an older release came back behind a newer one. */
function assertInOrder({ asked }: Lane): void {
  const failed = asked.filter(({ answer, failure }) => failure !== undefined || answer?.status !== 200)
  assert.deepEqual(failed, [])
  const order = asked.map(({ answer }) => names.indexOf(answer!.body.release))
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
}
