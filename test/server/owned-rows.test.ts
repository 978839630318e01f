// Routes that `generate:from-table` and "Create routes" write for a table whose rows belong to users.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { generateTable } from '../../src/project/index.ts'
import { describeSystems, openProjectServer, writeFiles, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { chooseKinds } from '../support/forms.ts'

const migration = 'migrations/System/20260101-note.yml'
const files = {
  'waypost.yml': 'routes: {}\n',
  [migration]: `create_table:
  app_note:
    columns:
      id: id
      user_id: uuid
      title: text(200)
      status: { type: integer, default: 1 }
      created_at: timestamp
    index: [[user_id, status, created_at, id]]
`,
}

describeSystems('rows that belong to users', chooseKinds('postgresql'), ({ newSystem }) => {
  let server: ProjectServer
  let ann: { authorization: string }
  let bob: { authorization: string }

  before(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'waypost-owned-'))
    try {
      await writeFiles(folder, { ...files, 'package.json': '{ "type": "module" }' })
      const { created, added } = await generateTable({
        folder,
        connection: 'System',
        table: 'app_note',
        owner: 'user_id',
        scopes: ['note'],
        softDelete: { column: 'status' },
        newScopes: { note: 'Own notes' },
        dryRun: false,
      })
      const names = ['waypost.yml', ...created, ...added.map(({ file }) => file)]
      const texts = names.map(async (file) => [file, await readFile(path.join(folder, file), 'utf8')] as const)
      const written = Object.fromEntries(await Promise.all(texts))
      server = await openProjectServer({ files: { ...files, ...written }, systemUrl: await newSystem() })
    } finally {
      await rm(folder, { recursive: true })
    }
    ann = await server.authorize('ann', ['note'])
    bob = await server.authorize('bob', ['note'])
  })
  after(() => server[Symbol.asyncDispose]())

  const call = (operation: string, headers: { authorization: string }, body?: unknown) => {
    const [method = '', where = ''] = operation.split(' ')
    return send(server.port, { method, path: where, headers, ...(body === undefined ? {} : { body }) })
  }
  const add = async (owner: { authorization: string }, title: string) => {
    const { status, body, text } = await call('POST /note', owner, { title })
    assert.equal(status, 201, text)
    return body
  }

  test('lists contain only rows of the caller, with every filter and order', async () => {
    const [one, two] = [await add(ann, 'First'), await add(ann, 'Second')]
    const other = await add(bob, 'Other')
    assert.deepEqual((await call('GET /note', ann)).body.entry, [two, one])
    assert.deepEqual((await call('GET /note', bob)).body.entry, [other])
    assert.equal((await call('GET /note?count=true', bob)).body.count, 1)
    assert.deepEqual((await call(`GET /note?id=${one.id}`, bob)).body.entry, [])
    assert.deepEqual((await call('GET /note?limit=1', bob)).body.next, null)
    const { next } = (await call('GET /note?limit=1', ann)).body
    const after = (await call(`GET /note?after=${encodeURIComponent(next)}`, bob)).body.entry as { id: number }[]
    assert.ok(after.every(({ id }) => id === other.id))
  })

  test('the row of another user is not found, and nothing changes it', async () => {
    const row = await add(ann, 'Private')
    const where = `/note/${row.id}`
    const attempts = [
      await call(`GET ${where}`, bob),
      await call(`PUT ${where}`, bob, { title: 'Mine' }),
      await call(`PATCH ${where}`, bob, { title: 'Mine' }),
      await call(`DELETE ${where}`, bob),
    ]
    assert.deepEqual(
      attempts.map(({ status }) => status),
      [404, 404, 404, 404],
    )
    const missing = await call(`GET /note/${row.id + 1000}`, bob)
    assert.equal(attempts[0]!.body.detail, missing.body.detail, 'as if it did not exist')
    assert.deepEqual((await call(`GET ${where}`, ann)).body, row)
  })

  test('the owner changes and deletes a row', async () => {
    const row = await add(ann, 'Draft')
    const where = `/note/${row.id}`
    assert.equal((await call(`PUT ${where}`, ann, { title: 'Final' })).body.title, 'Final')
    assert.equal((await call(`PATCH ${where}`, ann, { title: 'Last' })).body.title, 'Last')
    assert.equal((await call(`DELETE ${where}`, ann)).status, 204)
    assert.equal((await call(`GET ${where}`, ann)).status, 404)
    assert.equal((await call(`PATCH ${where}`, ann, { title: 'Back' })).status, 404)
  })

  test('no request names the owner, and none is anonymous', async () => {
    const user = { user_id: '0190a0a0-0000-7000-8000-00000000000a' }
    assert.equal((await call('POST /note', bob, { title: 'Given', ...user })).status, 400)
    const { id, ...row } = await add(ann, 'Kept')
    assert.ok(!('user_id' in row))
    assert.equal((await call(`PATCH /note/${id}`, ann, user)).status, 400)
    assert.equal((await call(`GET /note?user_id=${user.user_id}`, bob)).status, 400)
    const operations = ['GET /note', 'POST /note', `GET /note/${id}`, `PUT /note/${id}`, `DELETE /note/${id}`]
    const eve = await server.authorize('eve', ['consumer'])
    for (const operation of operations) {
      const [method = '', where = ''] = operation.split(' ')
      const body = ['POST', 'PUT'].includes(method) ? { body: { title: 'x' } } : {}
      assert.equal((await send(server.port, { method, path: where, ...body })).status, 401, operation)
      assert.equal((await send(server.port, { method, path: where, headers: eve, ...body })).status, 403, operation)
    }
  })
})
