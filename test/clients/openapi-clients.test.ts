import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtemp, mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import createClient from 'openapi-fetch'
import { generateClient } from '../../src/project/index.ts'
import { checkout } from '../support/cli.ts'
import { actionFile, openProjectServer, writeFiles, type ProjectServer } from '../support/project-server.ts'

const migration = `export default {
  async up(db: any, type: any) {
    await db.schema.createTable('note')
      .addColumn('id', type.id, (one: any) => one.primaryKey())
      .addColumn('text', 'varchar(20)', (one: any) => one.notNull())
      .addColumn('version', 'integer', (one: any) => one.notNull())
      .execute()
  },
}
`
const columns = { id: { type: 'id' }, text: { type: 'text', length: 20 }, version: { type: 'integer' } }
const notes = {
  'waypost.yml': `
scope: { note: {} }
action:
  Notes:
    class: sql-table
    config: { table: note, columns: [id, text], write: [text], version: { column: version, required: true } }
routes:
  /note: { scopes: [note], methods: { POST: { action: Notes } } }
  /note/:id: { scopes: [note], methods: { GET: { action: Notes }, PATCH: { action: Notes }, DELETE: { action: Notes } } }
`,
  'migrations/System/20260101-note.ts': migration,
  'migrations/System/tables.json': JSON.stringify({
    migrations: { '20260101-note': hash('sha256', migration).slice(0, 12) },
    tables: { note: { columns, key: ['id'] } },
  }),
}

const png = [0x89, 0x50, 0x4e, 0x47, 0xff, 0x00]

const files = {
  'waypost.yml': `
routes:
  /picture: { methods: { GET: { public: true, action: src/picture.ts } } }
  /table: { methods: { GET: { public: true, action: src/table.ts } } }
  /open: { methods: { GET: { public: true, action: src/open.ts } } }
  /tidy: { scopes: [tidy], methods: { DELETE: { action: src/nothing.ts }, POST: { responses: { 204: }, action: src/nothing.ts } } }
  /list:
    methods:
      GET:
        public: true
        parameters: { since: { type: [integer, 'null'] }, size: { type: integer, default: 16 } }
        response: { type: object, required: [query], properties: { query: { type: object, additionalProperties: true } } }
        action: src/list.ts
`,
  'src/picture.ts': actionFile(
    `return context.respond(200, Buffer.from(${JSON.stringify(png)}), { 'content-type': 'image/png' })`,
  ),
  'src/table.ts': actionFile(`return context.respond(200, 'a,b', { 'content-type': 'text/csv' })`),
  'src/open.ts': actionFile('return { any: [1] }'),
  'src/nothing.ts': actionFile('return undefined'),
  'src/list.ts': actionFile('return { query: request.query }'),
}

describe('an API whose methods do not all declare responses is called by', () => {
  let server: ProjectServer
  let headers: { authorization: string }
  before(async () => {
    server = await openProjectServer({ files })
    headers = await server.authorize('ann', ['tidy'])
  })
  after(() => server[Symbol.asyncDispose]())

  test('openapi-fetch', async () => {
    const client = createClient<Paths>({ baseUrl: server.url, headers })
    const picture = await client.GET('/picture', { parseAs: 'arrayBuffer', headers: { accept: 'image/*' } })
    assert.deepEqual([...new Uint8Array(picture.data as ArrayBuffer)], png)
    assert.equal((await client.GET('/table', { parseAs: 'text', headers: { accept: 'text/plain' } })).data, 'a,b')
    assert.deepEqual((await client.GET('/open')).data, { any: [1] })
    for (const answer of [await client.DELETE('/tidy'), await client.POST('/tidy')]) {
      assert.deepEqual([answer.response.status, answer.data, answer.error], [204, undefined, undefined])
    }
    // Others write null as "null", as its serializer does here.
    const querySerializer = (query: object) => new URLSearchParams(Object.entries(query)).toString()
    const list = await client.GET('/list', { params: { query: { since: null } }, querySerializer })
    assert.deepEqual(list.data, { query: { since: null, size: 16 } })
  })

  test('the generated client', async () => {
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-client-')))
    try {
      await writeFiles(folder, files)
      await mkdir(path.join(folder, 'node_modules'))
      await symlink(path.join(checkout, 'node_modules/@oazapfts'), path.join(folder, 'node_modules/@oazapfts'))
      const text = await generateClient({ folder, variables: {}, onDiagnostics: () => undefined })
      const file = path.join(folder, 'client.ts')
      await writeFile(file, text)
      const client = (await import(pathToFileURL(file).href)) as Client
      const at = { baseUrl: server.url }

      assert.equal((await client.getPicture(at)).status, 200)
      assert.deepEqual(answerOf(await client.getTable(at)), [200, 'a,b'])
      assert.deepEqual(answerOf(await client.getOpen(at)), [200, { any: [1] }])
      assert.deepEqual(answerOf(await client.deleteTidy({ ...at, headers })), [204, ''])
      assert.deepEqual(answerOf(await client.postTidy({}, { ...at, headers })), [204, ''])
      assert.deepEqual(answerOf(await client.getList({ since: 7 }, at)), [200, { query: { since: 7, size: 16 } }])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

test('the generated client changes a row only if it is the version that was read', async () => {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-client-')))
  await using server = await openProjectServer({ files: notes })
  const { authorization } = await server.authorize('ann', ['note'])
  try {
    await writeFiles(folder, notes)
    await mkdir(path.join(folder, 'node_modules'))
    await symlink(path.join(checkout, 'node_modules/@oazapfts'), path.join(folder, 'node_modules/@oazapfts'))
    const text = await generateClient({ folder, variables: {}, onDiagnostics: () => undefined })
    const { compilerOptions } = { compilerOptions: { ...tsOptions, allowImportingTsExtensions: true } }
    await writeFiles(folder, {
      'package.json': '{ "type": "module" }',
      'tsconfig.json': JSON.stringify({ compilerOptions, files: ['lock.ts'] }),
      'client.ts': text.replace('// @ts-nocheck\n', ''),
      'lock.ts': lock,
    })
    const tsc = path.join(checkout, 'node_modules/typescript/bin/tsc')
    assert.equal(execFileSync(process.execPath, [tsc, '-p', '.'], { cwd: folder, encoding: 'utf8' }), '')
    const { change } = (await import(pathToFileURL(path.join(folder, 'lock.ts')).href)) as {
      change(baseUrl: string, authorization: string): Promise<unknown>
    }
    assert.deepEqual(await change(server.url, authorization), {
      location: '/note/1',
      tags: ['"1"', '"1"', '"2"'],
      statuses: [201, 200, 304, 200, 412, 204],
      detail: 'The resource has been changed',
      text: 'b',
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

const tsOptions = {
  strict: true,
  noEmit: true,
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: [],
  skipLibCheck: true,
}

/** What users write, with types. */
const lock = `import { createNote, defaults, deleteNote, getNote, updateNote } from './client.ts'

export async function change(baseUrl: string, authorization: string) {
  defaults.baseUrl = baseUrl
  defaults.headers = { authorization }
  const created = await createNote({ text: 'a' })
  if (created.status !== 201) throw new Error(created.data.detail)
  const { id } = created.data
  const read = await getNote(id)
  const etag = read.headers.get('etag') ?? ''
  const again = await getNote(id, { ifNoneMatch: etag })
  // @ts-expect-error the header is required
  void (() => updateNote(id, { text: 'b' }))
  const changed = await updateNote(id, etag, { text: 'b' })
  const late = await updateNote(id, etag, { text: 'c' })
  const detail = late.status === 412 || late.status === 428 ? late.data.detail : ''
  const tag = changed.headers.get('etag') ?? ''
  const removed = await deleteNote(id, tag)
  return {
    location: created.headers.get('location'),
    tags: [created.headers.get('etag'), etag, tag],
    statuses: [created, read, again, changed, late, removed].map(({ status }) => status),
    detail,
    text: changed.status === 200 ? changed.data.text : '',
  }
}
`

test('openapi-fetch sends the headers of the description', async () => {
  await using server = await openProjectServer({ files: notes })
  const client = createClient<NotePaths>({ baseUrl: server.url, headers: await server.authorize('ann', ['note']) })
  const created = await client.POST('/note', { body: { text: 'a' } })
  const { id } = created.data!
  const change = (etag: string) =>
    client.PATCH('/note/{id}', { params: { path: { id }, header: { 'If-Match': etag } }, body: { text: 'b' } })
  const changed = await change(created.response.headers.get('etag')!)
  assert.deepEqual([changed.data, changed.response.headers.get('etag')], [{ id, text: 'b' }, '"2"'])
  const late = await change('"1"')
  assert.deepEqual([late.response.status, late.error?.status], [412, 412])
})

/** As openapi-typescript 7 writes them. */
interface NotePaths {
  '/note': {
    post: {
      requestBody: { content: { 'application/json': { text: string } } }
      responses: { 201: { content: { 'application/json': { id: number; text: string } } } }
    }
  }
  '/note/{id}': {
    patch: {
      parameters: { path: { id: number }; header: { 'If-Match': string } }
      requestBody: { content: { 'application/json': { text?: string } } }
      responses: {
        200: { content: { 'application/json': { id: number; text: string } } }
        412: { content: { 'application/problem+json': { status: number } } }
      }
    }
  }
}

/** As openapi-typescript 7 writes them. */
interface Paths {
  '/picture': { get: Undeclared }
  '/table': { get: Undeclared }
  '/open': { get: Undeclared }
  '/tidy': { delete: Undeclared; post: { responses: { 204: { content?: never } } } }
  '/list': {
    get: {
      parameters: { query?: { since?: number | null; size?: number } }
      responses: { 200: { content: { 'application/json': { query: Record<string, unknown> } } } }
    }
  }
}

interface Undeclared {
  responses: { 200: { content: { '*/*': unknown } }; 204: { content?: never } }
}

/** A function for each operation; their types are checked by test/project/generate-client.test.ts. */
type Client = Readonly<
  Record<
    'getPicture' | 'getTable' | 'getOpen' | 'deleteTidy' | 'postTidy' | 'getList',
    (...parameters: readonly object[]) => Promise<Answer>
  >
>

interface Answer {
  readonly status: number
  readonly data?: unknown
}

function answerOf({ status, data }: Answer): [number, unknown] {
  return [status, data]
}
