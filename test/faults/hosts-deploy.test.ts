// Releases are activated while three servers behind a proxy are asked without a break.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Serving } from '../e2e/serving.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { openHosts, type DeployedJson, type Hosts } from './hosts.ts'
import { openLane, type Lane } from './lane.ts'
import { openRoundRobin, type RoundRobin } from './round-robin.ts'

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

  test('load each release without losing a request', async (t) => {
    const paths = [{ path: '/version' }, { path: '/slow' }, { path: '/echo', body: { text: 'x'.repeat(20_000) } }]
    const lanes = servers.flatMap(({ port }) => paths.map((sent) => openLane(port, sent)))
    const throughProxy = [true, true, true, false, false].map((keepAlive) =>
      openLane(proxy.port, { path: '/version' }, { keepAlive }),
    )
    const all = [...lanes, ...throughProxy]
    try {
      const { variables } = await hosts.addPeople(['backend.read', 'backend.deploy'])
      const ways: Readonly<Record<string, () => Promise<DeployedJson>>> = {
        one: () => hosts.deploy('one'),
        two: () => hosts.deploy('two', `--url http://127.0.0.1:${proxy.port}`, variables),
      }
      for (const [name, deploy] of Object.entries(ways)) {
        const { servers: told } = await deploy()
        assert.deepEqual(
          told.map(({ state }) => state),
          ['serving', 'serving', 'serving'],
        )
        const before = lanes.map(({ asked }) => asked.length)
        await until('each lane is answered again', () =>
          lanes.every(({ asked }, index) => asked.length > before[index]! + 1),
        )
        for (const [index, { asked }] of lanes.entries())
          assert.equal(
            asked[before[index]! + 1]!.answer?.body.release,
            name,
            'a request that began after the deployment',
          )
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
