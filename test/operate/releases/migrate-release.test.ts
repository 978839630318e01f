import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { AppliedMigration } from '../../../src/host/index.ts'
import { makeLock } from '../../../src/store/index.ts'
import { describeSystems, writeFiles } from '../../support/project-server.ts'
import { makesTable, openDeployWorld, projectOf, type DeployWorld } from './world.ts'
import { chooseKinds } from '../../support/forms.ts'

const yml = 'waypost.yml'
const notes = 'connection: { Notes: { class: sqlite, config: { file: notes.db } } }\n'
const nameOf = ({ connection, name }: AppliedMigration) => `${connection}/${name}`

describeSystems('deploying with migrations', chooseKinds('postgresql'), ({ newSystem }) => {
  let world: DeployWorld
  beforeEach(async () => {
    world = await openDeployWorld(await newSystem())
  })
  afterEach(() => world[Symbol.asyncDispose]())

  test('runs them before the activation, in order, on every connection, and once', async () => {
    const more = `const { release_id } = await db.selectFrom('waypost_active').selectAll().executeTakeFirst() ?? {}
      if (release_id) throw new Error('A release is active')`
    const { id, migrated } = await world.deploy({
      [yml]: projectOf(1, notes),
      'migrations/System/2-line.ts': makesTable('order_line', { more }),
      'migrations/System/1-order.ts': makesTable('shop_order'),
      'migrations/Notes/1-note.ts': makesTable('note'),
    })
    assert.deepEqual(migrated.map(nameOf), ['Notes/1-note', 'System/1-order', 'System/2-line'])
    assert.deepEqual([await world.activeId(), await world.tables()], [id, ['order_line', 'shop_order']])
    assert.deepEqual((await world.deploy({ [yml]: projectOf(2, notes) })).migrated, [])
  })

  test('without --migrate is rejected while a migration is pending, and changes nothing', async () => {
    const files = { [yml]: projectOf(1), 'migrations/System/1-order.ts': makesTable('shop_order') }
    const refused = { code: 'WP_RELEASE_MIGRATIONS_PENDING', message: /System\/1-order/, hint: /--migrate/ }
    await assert.rejects(world.deploy(files, { migrate: false }), refused)
    assert.deepEqual([await world.activeId(), await world.tables()], [undefined, []])
    const { id } = await world.deploy({})
    assert.equal((await world.deploy({}, { migrate: false })).activated, false)
    assert.equal(await world.activeId(), id)
  })

  test('a failing one keeps the active release, and reports its name, those that ran, and the next step', async () => {
    const { id } = await world.deploy({ [yml]: projectOf(1, notes) })
    const breaks = makesTable('invoice', { more: `throw new Error('no such thing')` })
    const files = {
      [yml]: projectOf(2, notes),
      'migrations/Notes/1-note.ts': makesTable('note'),
      'migrations/System/1-order.ts': makesTable('shop_order'),
      'migrations/System/2-invoice.ts': breaks,
      'migrations/System/3-line.ts': makesTable('order_line'),
    }
    await assert.rejects(world.deploy(files), {
      code: 'WP_MIGRATE_FAILED',
      message: 'The migration "migrations/System/2-invoice.ts" failed and was rolled back: no such thing',
      hint: 'Fix it and deploy again; the previous release is still being served. These stay applied: "Notes/1-note", "System/1-order".',
    })
    assert.deepEqual([await world.activeId(), await world.tables()], [id, ['shop_order']])
    const { migrated } = await world.deploy({ 'migrations/System/2-invoice.ts': makesTable('invoice') })
    assert.deepEqual(migrated.map(nameOf), ['System/2-invoice', 'System/3-line'])
  })

  test('one that cannot be loaded keeps the others from running', async () => {
    const files = {
      [yml]: projectOf(1),
      'migrations/System/1-order.ts': makesTable('shop_order'),
      'migrations/System/2-invoice.ts': `throw new Error('not here')\n${makesTable('invoice')}`,
    }
    await assert.rejects(world.deploy(files), { code: 'WP_SERVER_MIGRATION_LOAD', message: /2-invoice.*not here/ })
    assert.deepEqual([await world.activeId(), await world.tables()], [undefined, []])
  })

  test('one that was applied with another text is rejected', async () => {
    await world.deploy({ [yml]: projectOf(1), 'migrations/System/1-order.ts': makesTable('shop_order') })
    const { id } = await world.deploy({ [yml]: projectOf(2) })
    await assert.rejects(world.deploy({ 'migrations/System/1-order.ts': makesTable('other') }), {
      code: 'WP_SERVER_MIGRATIONS_EDITED',
      message: /System\/1-order/,
    })
    assert.equal(await world.activeId(), id)
  })

  test('against another release than the active one runs none of them', async () => {
    await world.deploy({ [yml]: projectOf(1) })
    const files = { [yml]: projectOf(2), 'migrations/System/1-order.ts': makesTable('shop_order') }
    await assert.rejects(world.deploy(files, { against: 'ffff' }), { code: 'WP_RELEASE_SUPERSEDED' })
    assert.deepEqual(await world.tables(), [])
  })

  test('twice at once runs each of them once', async () => {
    await writeFiles(world.folder, {
      [yml]: projectOf(1),
      'migrations/System/1-order.ts': makesTable('shop_order'),
      'migrations/System/2-line.ts': makesTable('order_line'),
    })
    const deployments = await Promise.all(['ann', 'bob'].map((by) => world.deploy({}, { by })))
    assert.deepEqual(
      deployments.flatMap(({ migrated }) => migrated.map(nameOf)),
      ['System/1-order', 'System/2-line'],
    )
    assert.equal(deployments.filter(({ activated }) => activated).length, 1)
  })

  test('waits for a concurrent migration, and reports it', async () => {
    const { promise: isLocked, resolve: tellLocked } = Promise.withResolvers<void>()
    let deployment: Promise<unknown> | undefined
    await makeLock(world.host.system.database)('migrate', async () => {
      const files = { [yml]: projectOf(1), 'migrations/System/1-order.ts': makesTable('shop_order') }
      deployment = world.deploy(files, { onMigrationsLocked: tellLocked })
      await isLocked
      assert.deepEqual(await world.tables(), [])
    })
    await deployment
    assert.deepEqual(await world.tables(), ['shop_order'])
  })
})
