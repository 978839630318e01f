// Deployments and servers that are killed half-way, and deployments that meet, on servers of one PostgreSQL.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { loadActiveRelease, loadArtifacts } from '../../src/release/index.ts'
import type { Serving } from '../e2e/serving.ts'
import { until } from '../support/until.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { send } from '../support/send.ts'
import { openHosts, type DeployedJson, type Hosts } from './hosts.ts'
import { openLane } from './lane.ts'
import { isLong, longTest } from '../support/forms.ts'

/** How old a server's heartbeat may be. */
const silentMs = 20_000
const mortal = pathToFileURL(path.join(import.meta.dirname, 'mortal-deploy.ts')).href
/** More points than an activation has. */
const mostPoints = 25
/** Outside the long form, every fifth point. */
const step = isLong ? 1 : 5

describe('servers of one PostgreSQL', { concurrency: 1 }, () => {
  let postgres: TestPostgres
  let hosts: Hosts
  let servers: readonly Serving[]
  before(async () => {
    postgres = await startPostgres()
    hosts = await openHosts({ url: await postgres.createSystem() })
    await hosts.deploy('zero')
    servers = await Promise.all([hosts.serve(), hosts.serve()])
  })
  after(async () => {
    await hosts[Symbol.asyncDispose]()
    await postgres.stop()
  })

  const readServers = () => hosts.system.db.selectFrom('waypost_server').select(['id', 'state']).execute()

  /** Fails when a server answers by another release than this one, on any route. */
  async function assertServed(release: string): Promise<void> {
    for (const { port } of servers) {
      for (const one of ['/version', '/stored', '/slow']) {
        assert.equal((await send(port, { path: one })).body.release, release, one)
      }
    }
  }

  test('continue when another one is killed during a swap, which is not awaited once its heartbeat stops', async () => {
    const third = await hosts.serve({ STAYS_BEFORE: 'one' })
    const lanes = servers.map(({ port }) => openLane(port, { path: '/version' }))
    await hosts.name('one')
    const deploying = hosts.project.start('deploy --yes --json --wait 5m')
    const count = async (state: string) => (await readServers()).filter((row) => row.state === state).length
    await until('one swaps, two serve', async () => (await count('swapping')) === 1 && (await isServed('one')))
    await hosts.kill(third)
    const dead = (await readServers()).find(({ state }) => state === 'swapping')!
    await hosts.system.db
      .updateTable('waypost_server')
      .set((column) => ({ heartbeat_at: column('heartbeat_at', '-', silentMs) }))
      .where('id', '=', dead.id)
      .execute()
    const { code, stdout, stderr } = await deploying.ended
    assert.equal(code, 0, stderr)
    const told = (JSON.parse(stdout) as DeployedJson).servers
    assert.deepEqual(
      told.map(({ state }) => state),
      ['serving', 'serving'],
    )
    for (const lane of lanes) assert.ok((await lane.stop()).every(({ answer }) => answer?.status === 200))
    await assertServed('one')
  })

  const isServed = async (release: string) => {
    const answers = await Promise.all(servers.map(({ port }) => send(port, { path: '/version' })))
    return answers.every(({ body }) => body.release === release)
  }
  // In CI, release/activate.test.ts has two at once.
  longTest(
    'serve the release that won when two are deployed at once; the other deployment reports the conflict',
    async () => {
      const projects = [hosts.project, await hosts.copyProject()]
      const names = ['left', 'right']
      for (const [index, project] of projects.entries()) await hosts.name(names[index]!, project)
      const before = await loadActiveRelease(hosts.system)
      // Both have seen what is active, and wait to replace it.
      const deploying = await hosts.system.transaction(async (trx) => {
        await trx.selectFrom('waypost_active').select('id').forUpdate().execute()
        const started = projects.map((project) => project.start('deploy --yes --json'))
        await until('both wait for the lock', async () => {
          await sql`select 1`.execute(trx) // PostgreSQL ends a transaction that is idle for long
          return (await countWaiting()) === 2
        })
        return started
      })
      const ended = await Promise.all(deploying.map((one) => one.ended))
      assert.deepEqual(new Set(ended.map(({ code }) => code)), new Set([0, 1]))
      const won = ended.findIndex(({ code }) => code === 0)
      const { release } = JSON.parse(ended[won]!.stdout) as DeployedJson
      const told = ended[1 - won]!
      assert.match(
        told.stdout + told.stderr,
        new RegExp(`active release is ${release.slice(0, 8)}, not ${before!.id.slice(0, 8)}`),
      )
      assert.equal((await loadActiveRelease(hosts.system))?.id, release)
      await assertServed(names[won]!)
    },
  )

  async function countWaiting(): Promise<number> {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(hosts.system.guardDb)
    return rows.length
  }

  // In CI, publish-killed.test.ts kills at points of the same activation, runtime/gateway.test.ts swaps releases under load.
  longTest('serve the old or the new release, never a mixture, at whatever point a deployment is killed', async (t) => {
    let point = 1 - step
    let served = 'base'
    await hosts.deploy(served)
    for (let isDead = true; isDead;) {
      point += step
      assert.ok(point < mostPoints, 'it never came to its end')
      const before = await loadActiveRelease(hosts.system)
      const name = `point ${point}`
      await hosts.name(name)
      const env = { DIE_AT: String(point), NODE_OPTIONS: `--import ${mortal}` }
      const { code, stderr } = await hosts.project.run('deploy --yes', { env })
      isDead = code === 'SIGKILL'
      if (!isDead) assert.equal(code, 0, stderr)
      const active = await loadActiveRelease(hosts.system)
      const hashes = Object.keys(active!.manifest.artifacts)
      assert.equal((await loadArtifacts(hosts.system, active!, active!.manifest.artifacts)).length, hashes.length)
      if (active!.id !== before!.id) {
        served = name
        await until(`${name} is served`, () => isServed(name))
      }
      await assertServed(served)
    }
    t.diagnostic(`it was killed at points 1 to ${point - step}`)
    assert.ok(point > 6, 'each statement of an activation is a point')
  })
})
