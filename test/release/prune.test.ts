import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import {
  activateRelease,
  loadActiveRelease,
  loadArtifacts,
  loadManifest,
  pruneReleases,
  rollBack,
} from '../../src/release/index.ts'
import type { System } from '../../src/store/index.ts'
import { makeRelease, openFreshSystem } from './system.ts'
import { describeSystems } from '../support/project-server.ts'
import { chooseKinds } from '../support/forms.ts'

const dayMs = 86_400_000

describeSystems('pruning releases', chooseKinds('postgresql'), ({ newSystem }) => {
  let system: System & AsyncDisposable
  beforeEach(async () => {
    system = await openFreshSystem(await newSystem())
  })
  afterEach(() => system[Symbol.asyncDispose]())

  /** Each has its own artifact and a shared one. */
  const deploy = async (name: string) =>
    (await activateRelease(system, makeRelease(name, name, 'shared'), { by: 'ann' })).id
  const deployAll = async (...names: readonly string[]) => {
    const ids: string[] = []
    for (const name of names) ids.push(await deploy(name))
    return ids
  }
  const prune = (more: Partial<Parameters<typeof pruneReleases>[1]> = {}) =>
    pruneReleases(system, { keepNewest: 0, keepMs: -1000, ...more })
  const ids = async () => (await system.db.selectFrom('waypost_release').select('id').execute()).map(({ id }) => id)
  const assertLeft = async (...wanted: readonly (string | undefined)[]) =>
    assert.deepEqual(new Set(await ids()), new Set(wanted))
  const count = async (table: 'waypost_artifact' | 'waypost_activation') => {
    const query = system.db.selectFrom(table).select((column) => column.fn.countAll<number>().as('count'))
    return (await query.executeTakeFirstOrThrow()).count
  }
  const age = (ms: number) =>
    system.db
      .updateTable('waypost_activation')
      .set((column) => ({ activated_at: column('activated_at', '-', ms) }))
      .execute()

  test('keeps the active release and the previous one completely, and deletes artifacts used only by others', async () => {
    const [one, two, three, four] = await deployAll('one', 'two', 'three', 'four')
    assert.deepEqual(await prune({ dryRun: true }), { releases: [two, one], artifacts: 2, kept: 2 })
    assert.equal((await ids()).length, 4)
    assert.deepEqual(await prune(), { releases: [two, one], artifacts: 2, kept: 2 })
    await assertLeft(three, four)
    assert.deepEqual([await count('waypost_artifact'), await count('waypost_activation')], [3, 2])
    assert.equal((await loadActiveRelease(system))?.id, four)
    const { artifacts } = await loadManifest(system, three!)
    assert.equal((await loadArtifacts(system, { id: three! }, artifacts)).length, 2)
    assert.deepEqual(await prune(), { releases: [], artifacts: 0, kept: 2 })
  })

  test('keeps the given number of newest releases, and those that ended recently, however long ago they began', async () => {
    const [one, two, three] = await deployAll('one', 'two', 'three')
    await age(100 * dayMs)
    const [four, five] = await deployAll('four', 'five')
    // `three` was active for 100 days until just now.
    assert.deepEqual((await prune({ keepMs: 90 * dayMs, dryRun: true })).releases, [two, one])
    assert.deepEqual((await prune({ keepNewest: 4, keepMs: 90 * dayMs })).releases, [one])
    await assertLeft(two, three, four, five)
  })

  test('after a rollback keeps the target of another one, and counts from the last activation of a release', async () => {
    const [one, two, three] = await deployAll('one', 'two', 'three')
    await rollBack(system, two!, { by: 'bob' })
    assert.deepEqual((await prune()).releases, [three])
    await assertLeft(one, two)
  })

  test('keeps releases that a server serves or is starting, and the last one that was served', async () => {
    const [one, two, three] = await deployAll('one', 'two', 'three', 'four', 'five', 'six', 'seven')
    const times = { started_at: 1, heartbeat_at: 1 }
    await system.db
      .insertInto('waypost_server')
      .values({ id: 's', name: 'app-1', version: '1', state: 'failed', release_id: one!, wanted_id: two!, ...times })
      .execute()
    await system.db.updateTable('waypost_release').set({ came_up_at: 5 }).where('id', '=', three!).execute()
    await system.db.updateTable('waypost_release').set({ came_up_at: 4 }).where('id', '=', two!).execute()
    assert.equal((await prune()).releases.length, 2)
    const left = await ids()
    assert.ok([one, two, three].every((id) => left.includes(id!)))
  })

  test('deletes no artifact while a manifest is damaged', async () => {
    await deployAll('one', 'two', 'three')
    await system.db.updateTable('waypost_release').set({ manifest: '{"artifacts":{}}' }).execute()
    assert.deepEqual(await prune().then(({ releases, artifacts }) => [releases.length, artifacts]), [1, 0])
    assert.equal(await count('waypost_artifact'), 4)
  })

  test('concurrent with a deployment of an old release leaves it complete', async () => {
    for (let round = 0; round < 5; round++) {
      await deployAll('old', `${round} a`, `${round} b`)
      await Promise.all([prune(), deploy('old')])
      const active = await loadActiveRelease(system)
      assert.equal(active?.manifest.config['title'], 'old')
      await loadArtifacts(system, active, active.manifest.artifacts)
    }
  })

  test('of a release that is activated again and again one activation is left', async () => {
    for (let round = 0; round < 4; round++) await deployAll('one', 'two')
    assert.equal(await count('waypost_activation'), 8)
    await prune({ keepMs: dayMs })
    assert.equal(await count('waypost_activation'), 8)
    await prune()
    assert.equal(await count('waypost_activation'), 2)
  })
})
