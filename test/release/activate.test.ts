import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { sha256 } from '../../src/kit/index.ts'
import {
  activateRelease,
  loadActiveRelease,
  loadArtifacts,
  pruneDevelopmentReleases,
  releaseId,
} from '../../src/release/index.ts'
import { startFeed, type Change, type System } from '../../src/store/index.ts'
import { makeRelease, openFreshSystem } from './system.ts'
import { describeSystems } from '../support/project-server.ts'
import { chooseKinds } from '../support/forms.ts'

describeSystems('activating a release', chooseKinds('postgresql'), ({ kind, newSystem }) => {
  let system: System & AsyncDisposable
  beforeEach(async () => {
    system = await openFreshSystem(await newSystem())
  })
  afterEach(() => system[Symbol.asyncDispose]())

  const counts = async () => {
    const tables = ['waypost_release', 'waypost_artifact', 'waypost_feed'] as const
    return Promise.all(
      tables.map(async (table) => {
        const row = await system.db
          .selectFrom(table)
          .select((column) => column.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        return row.count
      }),
    )
  }
  const activate = (name: string, ...contents: string[]) =>
    activateRelease(system, makeRelease(name, ...contents), { by: 'ann' })

  test('stores it with its artifacts, activates it, and notifies the feed', async () => {
    assert.equal(await loadActiveRelease(system), undefined)
    const feed = await startFeed(system)
    const changes: Change[] = []
    feed.listen((news) => news !== 'reset' && changes.push(...news))
    const built = makeRelease('one', 'a', 'b')
    const predicted = releaseId(built.manifest)
    const { id, activated } = await activateRelease(system, built, { by: 'ann', message: 'First' })
    assert.deepEqual([id, activated], [predicted, true])
    await feed.catchUp()
    assert.deepEqual(
      changes.map(({ kind, subject }) => [kind, subject]),
      [['activation', id]],
    )
    await feed.close()

    const active = await loadActiveRelease(system)
    assert.deepEqual([active?.id, active?.activatedBy, active?.manifest], [id, 'ann', built.manifest])
    assert.ok(Math.abs(active!.activatedAt - Date.now()) < 600_000)
    assert.deepEqual(await loadArtifacts(system, { id }, built.manifest.artifacts), built.artifacts)
    const row = await system.db.selectFrom('waypost_release').selectAll().executeTakeFirstOrThrow()
    assert.deepEqual([row.message, row.created_by], ['First', 'ann'])
  })

  test('again does nothing', async () => {
    const first = await activate('one', 'a')
    const before = await counts()
    assert.deepEqual(await activate('one', 'a'), { id: first.id, activated: false, recorded: false })
    assert.deepEqual(await counts(), before)
  })

  test('that was active before makes it active again, without storing anything twice', async () => {
    const first = await activate('one', 'a', 'shared')
    await activate('two', 'b', 'shared')
    assert.deepEqual(await counts(), [2, 3, 2])
    assert.deepEqual(await activate('one', 'a', 'shared'), { id: first.id, activated: true, recorded: true })
    assert.deepEqual(await counts(), [2, 3, 3])
    assert.equal((await loadActiveRelease(system))?.manifest.config['title'], 'one')
  })

  test('has the same id on every System', async () => {
    const { id } = await activate('one', 'a')
    assert.equal(id, sha256(JSON.stringify(makeRelease('one', 'a').manifest)))
  })

  test('is atomic: a failure of the last statement keeps the previous release', async () => {
    const first = await activate('one', 'a')
    const before = await counts()
    await breakFeed(system)
    await assert.rejects(activate('two', 'b', 'c'), /broken on purpose/)
    assert.deepEqual(await counts(), before)
    assert.equal((await loadActiveRelease(system))?.id, first.id)
    await mendFeed(system)
    assert.equal((await activate('two', 'b', 'c')).activated, true)
  })

  test('with another expected release than the active one is rejected and changes nothing', async () => {
    await assert.rejects(activateRelease(system, makeRelease('one'), { by: 'ann', against: 'ffff' }), {
      code: 'WP_RELEASE_SUPERSEDED',
      message: 'The active release is none, not ffff',
    })
    const { id } = await activate('one')
    const before = await counts()
    await assert.rejects(activateRelease(system, makeRelease('two'), { by: 'ann', against: 'ffff' }), {
      code: 'WP_RELEASE_SUPERSEDED',
      status: 409,
      message: `The active release is ${id.slice(0, 8)}, not ffff`,
    })
    assert.deepEqual(await counts(), before)
    assert.equal(
      (await activateRelease(system, makeRelease('two'), { by: 'ann', against: id.slice(0, 8) })).activated,
      true,
    )
  })

  test('concurrent with another activation, one succeeds, and the feed names it', async () => {
    const base = await activate('base')
    const names = ['a', 'b', 'c', 'd']
    const outcomes = await Promise.allSettled(
      names.map((name) => activateRelease(system, makeRelease(name, name), { by: name, against: base.id })),
    )
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.id] : []))
    const lost = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [(outcome.reason as { code: string }).code] : [],
    )
    assert.deepEqual([won.length, lost], [1, Array.from({ length: 3 }, () => 'WP_RELEASE_SUPERSEDED')])
    const active = await loadActiveRelease(system)
    assert.equal(active?.id, won[0])
    assert.equal(active?.activatedBy, active?.manifest.config['title'])

    await Promise.all(names.map((name) => activate(`${name}2`, name)))
    const { subject } = await system.db
      .selectFrom('waypost_feed')
      .select('subject')
      .orderBy('position', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    assert.equal((await loadActiveRelease(system))?.id, subject)
    assert.deepEqual(await counts(), [6, 4, 6])
  })

  test('detects damage of the stored release, and deploying again repairs it', async () => {
    const built = makeRelease('one', 'a', 'b')
    const { id } = await activateRelease(system, built, { by: 'ann' })
    const sizes = built.manifest.artifacts
    const hashes = built.artifacts.map((one) => one.hash)
    const corrupt = (what: RegExp) => ({ code: 'WP_RELEASE_CORRUPT', message: what })
    const { db } = system
    const mend = async () => {
      assert.equal((await activateRelease(system, built, { by: 'ann' })).activated, false)
      assert.equal((await loadActiveRelease(system))?.id, id)
      assert.equal((await loadArtifacts(system, { id }, sizes)).length, 2)
    }

    await db.updateTable('waypost_artifact').set({ content: 'evil' }).where('hash', '=', hashes[0]!).execute()
    await assert.rejects(
      loadArtifacts(system, { id }, sizes),
      corrupt(new RegExp(`artifact ${hashes[0]!.slice(0, 8)} was changed`)),
    )
    await mend()
    await db.deleteFrom('waypost_artifact').where('hash', '=', hashes[1]!).execute()
    await assert.rejects(loadArtifacts(system, { id }, sizes), corrupt(/is missing/))
    await mend()
    await db.updateTable('waypost_release').set({ manifest: '{"routes":[]}' }).where('id', '=', id).execute()
    await assert.rejects(loadActiveRelease(system), corrupt(/was changed/))
    await mend()
    await db.deleteFrom('waypost_release').where('id', '=', id).execute()
    await assert.rejects(loadActiveRelease(system), corrupt(/is missing/))
    await mend()
  })

  test('stores many and large artifacts', async () => {
    const contents = Array.from({ length: 250 }, (_, index) => `${index} ${'ü'.repeat(index * 40)}`)
    const { id } = await activate('many', ...contents)
    const hashes = contents.map((content) => sha256(content))
    const sizes = Object.fromEntries(hashes.map((hash) => [hash, 1]))
    const loaded = await loadArtifacts(system, { id }, sizes)
    assert.deepEqual(loaded.map(({ content }) => content).toSorted(), contents.toSorted())
  })

  test('in development sometimes prunes old releases, but neither the active one nor artifacts in use', async () => {
    const first = await activate('first', 'shared', 'first')
    for (let save = 0; save < 45; save += 1) await activate(`save ${save}`, 'shared', `only ${save}`)
    assert.deepEqual(await activate('first', 'shared', 'first'), { id: first.id, activated: true, recorded: true })
    await pruneDevelopmentReleases(system)
    const [releases, artifacts] = await counts()
    assert.deepEqual([releases, artifacts], [20, 21])
    const active = await loadActiveRelease(system)
    assert.equal(active?.id, first.id)
    await loadArtifacts(system, first, active.manifest.artifacts)
    assert.equal((await activate('save 44', 'shared', 'only 44')).activated, true)
    await pruneDevelopmentReleases(system)
    assert.equal((await counts())[0], 20, 'a few more are left until there are enough')
  })

  /** Makes the feed, which is written last, reject all rows. */
  async function breakFeed({ db }: System): Promise<void> {
    if (kind === 'sqlite') {
      await sql`create trigger broken before insert on waypost_feed begin select raise(abort, 'broken on purpose'); end`.execute(
        db,
      )
      return
    }
    await sql`create function broken() returns trigger language plpgsql as $$ begin raise exception '"broken on purpose"'; end $$`.execute(
      db,
    )
    await sql`create trigger broken before insert on waypost_feed for each row execute function broken()`.execute(db)
  }

  async function mendFeed({ db }: System): Promise<void> {
    await (kind === 'sqlite' ? sql`drop trigger broken` : sql`drop trigger broken on waypost_feed`).execute(db)
  }
})
