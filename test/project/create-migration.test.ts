import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { createMigration } from '../../src/project/index.ts'
import { writeFiles } from '../support/project-server.ts'

test('a migration of a connection is made also where an action is still missing', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-migration-'))
  try {
    const yml = `connection: { Orders: { class: sqlite, config: { file: orders.db } } }
routes: { /a: { methods: { GET: { public: true, action: src/none.ts } } } }
`
    await writeFiles(folder, { 'waypost.yml': yml })
    const file = await createMigration({ folder, name: 'create order', connection: 'Orders' })
    assert.match(file, /^migrations\/Orders\/\d{8}-create-order\.ts$/)
    assert.match(await readFile(path.join(folder, file), 'utf8'), /satisfies Migration/)
    await assert.rejects(createMigration({ folder, name: 'b', connection: 'Ordres' }), { code: 'WP_PROJECT_BROKEN' })
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a migration of a connection that is not declared names where to declare it', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-migration-'))
  try {
    await writeFiles(folder, { 'waypost.yml': 'routes: {}\n' })
    await assert.rejects(createMigration({ folder, name: 'create-stock', connection: 'Stock' }), {
      code: 'WP_PROJECT_CONNECTION',
      hint: 'Declare it under "connection:" in waypost.yml. Declared: System.',
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})
