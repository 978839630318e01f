import assert from 'node:assert/strict'
import { mkdtemp, mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import createClient from 'openapi-fetch'
import { generateClient } from '../../src/project/index.ts'
import { checkout } from '../support/cli.ts'
import { actionFile, openProjectServer, writeFiles, type ProjectServer } from '../support/project-server.ts'

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
