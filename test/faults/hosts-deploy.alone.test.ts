// Releases are activated while three servers behind a proxy are asked without a break.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { System } from '../../src/store/index.ts'
import type { Serving } from '../e2e/serving.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { openHosts, type DeployedJson, type Hosts } from './hosts.ts'
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
    hosts = await openHosts({ url: await postgres.createSystem() })
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
    const paths = [{ path: '/version' }, { path: '/slow' }, { path: '/echo', body: { text: 'x'.repeat(20_000) } }]
    const lanes = servers.flatMap(({ port }) => paths.map((sent) => openLane(port, sent)))
    const throughProxy = [true, true, true, false, false].map((keepAlive) =>
      openLane(proxy.port, { path: '/version' }, keepAlive),
    )
    const all = [...lanes, ...throughProxy]
    try {
      const { variables } = await hosts.addPeople(['backend.read', 'backend.deploy'])
      const ways: Readonly<Record<string, () => Promise<DeployedJson>>> = {
        one: () => hosts.deploy('one'),
        two: () => hosts.deploy('two', `--url http://127.0.0.1:${proxy.port}`, variables),
      }
      for (const [name, deploy] of Object.entries(ways)) {
        const [committed, { servers: told }] = await Promise.all([watchActivation(hosts.system), deploy()])
        assert.deepEqual(
          told.map(({ state }) => state),
          ['serving', 'serving', 'serving'],
        )
        await pause(Math.max(0, committed + limitMs - performance.now()))
        await seenOnAll(lanes)
        const late = lanes.map((lane) => lastOfOthers(lane, name) - committed)
        t.diagnostic(`${name}: the release before until ${late.map((ms) => ms.toFixed(0)).join(', ')} ms`)
        assert.ok(late.every((ms) => ms < limitMs))
      }
    } finally {
      await Promise.all(all.map((lane) => lane.stop()))
    }
    t.diagnostic(`${all.reduce((sum, { asked }) => sum + asked.length, 0)} requests`)
    assert.ok(proxy.counts.every((count) => count > 10))
    for (const lane of all) assertAnswered(lane)
    for (const lane of lanes) assertInOrder(lane)
  })
})

/** The first moment at which it is known that another release is active than when it is called. */
async function watchActivation(system: System): Promise<number> {
  const read = () => system.guardDb.selectFrom('waypost_active').select('release_id').executeTakeFirst()
  const before = await read()
  while ((await read())?.release_id === before?.release_id) await pause(3)
  return performance.now()
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

/** Fails where a request was lost. */
function assertAnswered({ asked }: Lane): void {
  const lost = asked.filter(({ answer }) => answer?.status !== 200 || !names.includes(answer.body.release))
  assert.deepEqual(lost, [])
}

/** Fails where an older release came back behind a newer one. */
function assertInOrder({ asked }: Lane): void {
  const order = asked.map(({ answer }) => names.indexOf(answer!.body.release))
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
}
