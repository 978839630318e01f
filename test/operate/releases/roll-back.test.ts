import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { rollBackTarget, type RollbackOptions, type RollbackPlan } from '../../../src/project/index.ts'
import { activateRelease, loadManifest } from '../../../src/release/index.ts'
import { assertAllowed, surveyRollback } from '../../../src/operate/index.ts'
import { describeSystems } from '../../support/project-server.ts'
import { forgetMigration, makesTable, openDeployWorld, projectOf, type DeployWorld } from './world.ts'
import { chooseKinds } from '../../support/forms.ts'

const yml = 'waypost.yml'
const [first, second] = ['migrations/System/1-order.ts', 'migrations/System/2-invoice.ts']
const breaking = { flags: 'breaking: true,' }

describeSystems('going back', chooseKinds('sqlite'), ({ newSystem }) => {
  let world: DeployWorld
  beforeEach(async () => {
    world = await openDeployWorld(await newSystem())
  })
  afterEach(() => world[Symbol.asyncDispose]())
  const deploy = async (...parameters: Parameters<DeployWorld['deploy']>) => (await world.deploy(...parameters)).id
  /** Activates a release without the migrations of the active one, as earlier versions of Waypost allowed. */
  const dropMigrations = async (number: number) => {
    const { system } = world.host
    const manifest = await loadManifest(system, (await world.activeId())!)
    const config = { ...manifest.config, subscription_limit: number }
    const { id } = await activateRelease(
      system,
      { manifest: { ...manifest, config, migrations: [] }, artifacts: [] },
      { by: 'ann' },
    )
    return id
  }
  const back = async (release?: string, more: Partial<RollbackOptions> = {}) => {
    const { folder, variables } = world
    return (await rollBackTarget({ folder, variables, release, by: 'bob', waitMs: 0, ...more }))!
  }

  test('keeps migrations that ran since: none is reverted', async () => {
    const one = await deploy({ [yml]: projectOf(1) })
    const two = await deploy({ [yml]: projectOf(2), [first]: makesTable('order_line') })
    const plans: RollbackPlan[] = []
    const confirm = async (plan: RollbackPlan) => plans.push(plan) > 1
    assert.equal(await back(undefined, { confirm }), undefined, 'nobody said yes')
    assert.equal(await world.activeId(), two)
    const [plan] = plans
    assert.deepEqual([plan?.id, plan?.active?.id, plan?.unknownMigrations], [one, two, []])
    assert.deepEqual(
      plan?.changes.map(({ change, kind, name }) => `${change} ${kind} ${name}`),
      ['changed setting subscription_limit', 'removed migration System/1-order'],
    )
    const { id, activated } = await back(undefined, { confirm })
    assert.deepEqual([id, activated], [one, true])
    assert.deepEqual([await world.activeId(), await world.tables()], [one, ['order_line']])
    await back(two.slice(0, 10))
    assert.equal(await world.activeId(), two)
  })

  test('behind a migration that is marked breaking is rejected, in both forms', async () => {
    const one = await deploy({ [yml]: projectOf(1), [first]: makesTable('order_line') })
    const two = await deploy({ [yml]: projectOf(2), [second]: makesTable('invoice', breaking) })
    const three = await deploy({ [yml]: projectOf(3) })
    const refused = {
      code: 'WP_RELEASE_BREAKING',
      message: `The release ${one.slice(0, 8)} is not compatible with migrations that have run since: System/2-invoice (marked breaking: true)`,
    }
    await assert.rejects(back(one), refused)
    assert.equal((await back()).id, two, 'it has it itself')
    await assert.rejects(back(), refused)
    assert.deepEqual([await world.activeId(), await world.tables()], [two, ['invoice', 'order_line']])
    assert.notEqual(three, two)
  })

  test('behind a migration in YAML names its steps that break, which nobody has marked', async () => {
    const table = 'create_table:\n  app_bill:\n    columns: { id: id, note: text(20) }\n'
    const one = await deploy({ [yml]: projectOf(1), 'migrations/System/20260101-bill.yml': table })
    const drop = 'drop_column: { app_bill: [note] }\n'
    await deploy({ [yml]: projectOf(2), 'migrations/System/20260102-note.yml': drop })
    await assert.rejects(back(one), {
      code: 'WP_RELEASE_BREAKING',
      message: /: System\/20260102-note \(drops app_bill\.note\)$/,
    })
  })

  test('is rejected even if the breaking migration is no longer in the project, and reported if it is unknown', async () => {
    const one = await deploy({ [yml]: projectOf(1) })
    const two = await deploy({ [yml]: projectOf(2), [second]: makesTable('invoice', breaking) })
    const three = await dropMigrations(3)
    await assert.rejects(back(one), { code: 'WP_RELEASE_BREAKING' })
    await world.host.system.db.deleteFrom('waypost_release').where('id', '=', two).execute()
    assert.deepEqual((await surveyRollback(world.host, one)).unknownMigrations, ['System/2-invoice'])
    assert.equal(await world.activeId(), three)
  })

  test('looks at every connection', async () => {
    const notes = 'connection: { Notes: { class: sqlite, config: { file: notes.db } } }\n'
    const one = await deploy({ [yml]: projectOf(1, notes) })
    await deploy({ 'migrations/Notes/1-note.ts': makesTable('note', breaking) })
    await assert.rejects(back(one), { code: 'WP_RELEASE_BREAKING', message: /Notes\/1-note/ })
  })

  test('continues if a connection cannot be opened, and assumes that its migrations have run', async () => {
    const away = 'connection: { Away: { class: sqlite, config: { file: "${env.AWAY}" } } }\n'
    const variables = { ...world.variables, AWAY: 'away.db' }
    const one = await deploy({ [yml]: projectOf(1, away) }, { variables })
    const two = await deploy({ 'migrations/Away/1-note.ts': makesTable('note') }, { variables })
    assert.deepEqual((await surveyRollback({ ...world.host, environment: variables, variables }, one)).unreachable, [])
    assert.deepEqual((await surveyRollback(world.host, one)).unreachable, ['Away'], 'its address is unknown')
    await deploy({ 'migrations/Away/2-more.ts': makesTable('more', breaking) }, { variables })
    const refused = { code: 'WP_RELEASE_BREAKING', message: /Away\/2-more/ }
    for (const host of [world.host, { ...world.host, environment: variables, variables }]) {
      const facts = await surveyRollback(host, two)
      assert.throws(() => assertAllowed(facts, { isConfirmed: true, allowBreaking: true }), refused)
    }
  })

  test('to a release that needs a reverted migration is rejected', async () => {
    const one = await deploy({ [yml]: projectOf(1), [first]: makesTable('order_line') })
    await dropMigrations(2)
    await forgetMigration(world.host, '1-order')
    await assert.rejects(back(one), { code: 'WP_RELEASE_MIGRATIONS', message: /System\/1-order/ })
  })

  test('to a release that a running server is too old for is rejected', async () => {
    const { db } = world.host.system
    const one = await deploy({ [yml]: projectOf(1) })
    await deploy({ [yml]: projectOf(2) })
    const row = { id: 's', name: 'app-1', version: '0.0.1', state: 'serving' as const, started_at: 1 }
    await db
      .insertInto('waypost_server')
      .values({ ...row, heartbeat_at: Date.now() })
      .execute()
    await assert.rejects(back(one), { code: 'WP_RELEASE_SERVERS_OLDER', message: /app-1 \(0\.0\.1\)/ })
    await db.updateTable('waypost_server').set({ heartbeat_at: 1 }).execute()
    assert.equal((await back(one)).id, one)
  })

  test('to a damaged release is rejected, from a damaged one is not', async () => {
    const { db } = world.host.system
    const one = await deploy({ [yml]: projectOf(1), [first]: makesTable('order_line') })
    const two = await deploy({ [yml]: projectOf(2) })
    await db
      .updateTable('waypost_release')
      .set({ manifest: '{}' })
      .where('manifest', 'like', '%"subscription_limit":2%')
      .execute()
    assert.equal((await back()).id, one)
    await assert.rejects(back(two), { code: 'WP_RELEASE_CORRUPT' })
    await db.deleteFrom('waypost_artifact').execute()
    await dropMigrations(3)
    await assert.rejects(back(one), { code: 'WP_RELEASE_CORRUPT' })
  })

  test('during another deployment is rejected: the surveyed release is no longer active', async () => {
    const one = await deploy({ [yml]: projectOf(1) })
    await deploy({ [yml]: projectOf(2) })
    let three: string | undefined
    const confirm = async () => {
      three = await deploy({ [yml]: projectOf(3) })
      return true
    }
    await assert.rejects(back(one, { confirm }), { code: 'WP_RELEASE_SUPERSEDED' })
    assert.equal(await world.activeId(), three)
  })
})
