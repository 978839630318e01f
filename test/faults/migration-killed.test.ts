import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startBuild } from '../../src/project/deploy/start-build.ts'
import { findProject } from '../../src/project/find-project.ts'
import { loadActiveRelease, loadArtifacts } from '../../src/release/index.ts'
import { makesTable, openDeployWorld, projectOf, type DeployWorld } from '../operate/releases/world.ts'
import { describeSystems, writeFiles } from '../support/project-server.ts'
import { endMortal, startMortal } from './mortal.ts'
import type { Order } from './mortal-migration.ts'
import { chooseKinds, isLong } from '../support/forms.ts'

/** More points than a migration and an activation have; on PostgreSQL those of the activation are looked at elsewhere. */
const limits = { sqlite: 40, postgresql: 8 }

// In CI, publish-killed.test.ts kills such migrations on PostgreSQL.
describeSystems('a deployment with a migration that is killed', chooseKinds('sqlite'), ({ kind, newSystem }) => {
  const limit = limits[kind]
  // Outside the long form, one inside the migration and one behind it.
  const points = isLong ? Array.from({ length: limit }, (_, index) => index + 1) : [5, 11]
  test('leaves the complete old or new release, at whatever point, and can be repeated', async (t) => {
    await using world = await openDeployWorld(await newSystem())
    await world.deploy({ [yml]: projectOf(1), [fileOf(0)]: makesTable(tableOf(0)) })
    let deaths = 0
    let next = startMortal('mortal-migration.ts', world)
    try {
      for (const point of points) {
        const child = await next
        if (point !== points.at(-1)) next = startMortal('mortal-migration.ts', world) // meanwhile
        if (await survives(world, child, point)) break
        deaths = point
      }
    } finally {
      await endMortal(await next)
    }
    t.diagnostic(`it was killed at ${deaths} points`)
    if (!isLong) assert.equal(deaths, points.at(-1))
    else if (kind === 'sqlite') assert.ok(deaths >= 10 && deaths < limit, `it died at ${deaths} points`)
    else assert.equal(deaths, limit)
  })
})

const yml = 'waypost.yml'
const tableOf = (point: number) => `made_${String(point).padStart(2, '0')}`
const nameOf = (point: number) => `${String(point).padStart(2, '0')}-make`
const fileOf = (point: number) => `migrations/System/${nameOf(point)}.ts`

/** One deployment that ends at a point. @returns whether it came to its end */
async function survives(world: DeployWorld, child: ChildProcess, point: number): Promise<boolean> {
  const before = await world.activeId()
  await writeFiles(world.folder, { [yml]: projectOf(point + 1), [fileOf(point)]: makesTable(tableOf(point)) })
  const build = await startBuild(findProject(world.folder))
  const { release } = await build.finish(() => undefined)
  await build.close()
  const ended = once(child, 'exit')
  child.send({ release, dieAt: point } satisfies Order)
  const [code] = (await ended) as [number | null]
  const active = (await loadActiveRelease(world.host.system))!
  const isNew = active.id !== before
  const hasRun = await hasMigrated(world, point)
  assert.equal((await world.tables()).includes(tableOf(point)), hasRun, `point ${point}: its table and its row`)
  assert.ok(hasRun || !isNew, `point ${point}: what is active has its migrations`)
  const hashes = Object.keys(active.manifest.artifacts)
  assert.equal((await loadArtifacts(world.host.system, active, active.manifest.artifacts)).length, hashes.length)
  const again = await world.deploy({})
  assert.deepEqual([again.migrated.length, again.activated], [hasRun ? 0 : 1, !isNew], `point ${point}, again`)
  return code === 0
}

async function hasMigrated({ host }: DeployWorld, point: number): Promise<boolean> {
  const row = sql`select 1 from waypost_migration where name = ${nameOf(point)}`
  return (await row.execute(host.system.db)).rows.length === 1
}
