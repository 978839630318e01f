import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { loadMigrationStatus } from '../../src/project/index.ts'
import { migrateSystem } from '../../src/store/index.ts'
import { makesTable, openDeployWorld, projectOf } from '../operate/releases/world.ts'

test('on a host without a project, the migrations are those of the active release', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-status-'))
  await using world = await openDeployWorld('sqlite:system.db')
  await migrateSystem(world.host.system)
  try {
    const { variables } = world
    const states = async (connection?: string) => {
      const { target, migrations } = await loadMigrationStatus({ folder, variables, connection })
      assert.equal(target, world.host.system.target)
      const own = migrations.filter((one) => one.connection === 'waypost')
      assert.ok(own.length > 0 && own.every(({ state }) => state === 'applied'))
      return migrations.filter((one) => !own.includes(one)).map(({ applied_at: _, ...one }) => one)
    }
    assert.deepEqual(await states(), [], 'nothing is deployed yet')
    const [first, second] = ['migrations/System/1-order.ts', 'migrations/System/2-invoice.ts']
    await world.deploy({
      'waypost.yml': projectOf(1),
      [first]: makesTable('app_order'),
      [second]: makesTable('app_bill'),
    })
    const applied = (name: string) => ({ connection: 'System', name, state: 'applied' })
    assert.deepEqual(await states(), [applied('1-order'), applied('2-invoice')])
    assert.deepEqual(await states('System'), [applied('1-order'), applied('2-invoice')])
    await assert.rejects(states('Orders'), { code: 'WP_PROJECT_CONNECTION' })
  } finally {
    await rm(folder, { recursive: true })
  }
  const nowhere = loadMigrationStatus({ folder: path.join(folder, 'none'), variables: {} })
  await assert.rejects(nowhere, { code: 'WP_PROJECT_NOTHING_TO_MIGRATE' })
})
