import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import {
  activateRelease,
  findPrevious,
  findRelease,
  listReleases,
  loadActiveId,
  loadManifest,
  rollBack,
} from '../../src/release/index.ts'
import { startFeed, type System } from '../../src/store/index.ts'
import { describeSystems } from '../support/project-server.ts'
import { makeRelease, openFreshSystem } from './system.ts'
import { chooseKinds } from '../support/forms.ts'

describeSystems('going back to a release', chooseKinds('postgresql'), ({ newSystem }) => {
  let system: System & AsyncDisposable
  beforeEach(async () => {
    system = await openFreshSystem(await newSystem())
  })
  afterEach(() => system[Symbol.asyncDispose]())

  const deploy = async (name: string) => (await activateRelease(system, makeRelease(name, name), { by: 'ann' })).id
  const back = async () => (await rollBack(system, await findPrevious(system), { by: 'bob' })).id

  test('notifies the feed, and the list shows who rolled back', async () => {
    const [one, two] = [await deploy('one'), await deploy('two')]
    const feed = await startFeed(system)
    const subjects: string[] = []
    feed.listen((news) => news !== 'reset' && subjects.push(...news.map(({ subject }) => subject)))
    const options = { by: 'bob', message: 'It was slow', against: two.slice(0, 8) }
    assert.deepEqual(await rollBack(system, one, options), { id: one, activated: true })
    await feed.catchUp()
    await feed.close()
    assert.deepEqual(subjects, [one])
    assert.equal((await loadManifest(system, one)).config['title'], 'one')
    assert.deepEqual(
      (await listReleases(system, 10)).map(({ id, isActive, kind, activatedBy, message }) => [
        id,
        isActive,
        kind,
        activatedBy,
        message,
      ]),
      [
        [one, true, 'rollback', 'bob', 'It was slow'],
        [two, false, 'deploy', 'ann', undefined],
      ],
    )
  })

  test('step by step, never to the one that was gone back from', async () => {
    const [one, two, three] = [await deploy('one'), await deploy('two'), await deploy('three')]
    assert.deepEqual([await back(), await back()], [two, one])
    await assert.rejects(findPrevious(system), {
      code: 'WP_RELEASE_NO_PREVIOUS',
      message: `There is no previous release to roll back to: none was active before ${one.slice(0, 8)}`,
    })
    const four = await deploy('four')
    assert.equal(await back(), one)
    await rollBack(system, three, { by: 'bob' })
    assert.equal(await back(), two, 'from there as when it was deployed')
    assert.notEqual(four, three)
  })

  test('is rejected if no release is active, or the previous one was pruned', async () => {
    await assert.rejects(findPrevious(system), { code: 'WP_RELEASE_NO_PREVIOUS', message: /none is active/ })
    const one = await deploy('one')
    await deploy('two')
    await system.db.deleteFrom('waypost_release').where('id', '=', one).execute()
    await assert.rejects(findPrevious(system), { message: new RegExp(`${one.slice(0, 8)}, .* was pruned`) })
    await assert.rejects(rollBack(system, one, { by: 'bob' }), { code: 'WP_RELEASE_UNKNOWN' })
  })

  test('to the active release does nothing, for any expected release', async () => {
    const one = await deploy('one')
    assert.deepEqual(await rollBack(system, one, { by: 'bob', against: 'ffff' }), { id: one, activated: false })
    assert.equal((await listReleases(system, 10)).length, 1)
  })

  test('with another expected release than the active one is rejected and changes nothing', async () => {
    const [one, two] = [await deploy('one'), await deploy('two')]
    await assert.rejects(rollBack(system, one, { by: 'bob', against: one }), { code: 'WP_RELEASE_SUPERSEDED' })
    assert.equal(await loadActiveId(system), two)
  })

  test('concurrent with a deployment, one succeeds', async () => {
    const [one, two] = [await deploy('one'), await deploy('two')]
    const outcomes = await Promise.allSettled([
      rollBack(system, one, { by: 'bob', against: two }),
      activateRelease(system, makeRelease('three'), { by: 'ann', against: two }),
    ])
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.id] : []))
    assert.deepEqual([won.length, won[0]], [1, await loadActiveId(system)])
  })

  test('two deployments of the same at once both succeed, and one of them activated it', async () => {
    const base = await deploy('base')
    const outcomes = await Promise.all(
      ['ann', 'bob'].map((by) => activateRelease(system, makeRelease('same'), { by, against: base })),
    )
    assert.equal(outcomes.filter(({ activated }) => activated).length, 1)
  })

  test('one of two simultaneous first deployments fails', async () => {
    const outcomes = await Promise.allSettled(
      ['one', 'two'].map((name) => activateRelease(system, makeRelease(name), { by: name, against: 'none' })),
    )
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  })
})

describeSystems('finding a release', chooseKinds('postgresql'), ({ newSystem }) => {
  test('by the beginning of its id, which has to be the beginning of one alone', async () => {
    await using system = await openFreshSystem(await newSystem())
    const ids = ['aa11', 'aa12', 'ab', 'b'].map((beginning) => beginning.padEnd(64, '0'))
    const part = { manifest: '{}', message: null, created_by: 'ann', created_at: 1 }
    await system.db
      .insertInto('waypost_release')
      .values(ids.map((id) => ({ id, ...part })))
      .execute()
    assert.equal(await findRelease(system, 'ab'), ids[2])
    assert.equal(await findRelease(system, 'AA12'), ids[1])
    assert.equal(await findRelease(system, ids[3]!), ids[3])
    await assert.rejects(findRelease(system, 'aa'), {
      code: 'WP_RELEASE_AMBIGUOUS',
      message: '"aa" matches 2 releases: aa110000, aa120000',
    })
    for (const unknown of ['c', 'aa13', '', 'a%', 'xyz', ids[0]!.concat('0')]) {
      await assert.rejects(findRelease(system, unknown), { code: 'WP_RELEASE_UNKNOWN' }, unknown)
    }
  })
})
