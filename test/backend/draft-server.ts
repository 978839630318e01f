import assert from 'node:assert/strict'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { after, afterEach, before } from 'node:test'
import { sql } from 'kysely'
import { addUser } from '../../src/auth/index.ts'
import { parseMigration } from '../../src/definition/index.ts'
import { openHost, type Host } from '../../src/host/index.ts'
import { issueHostToken } from '../../src/operate/index.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send, type Answer } from '../support/send.ts'
import { asCommand } from '../support/server.ts'
import { readTemplate } from '../support/template.ts'
import { assertDescribed } from './admin.ts'

const { 'migrations/System/20261123-create-app-order.yml': migration, 'migrations/System/tables.json': tables } =
  readTemplate('crud')

export const ran = 'migrations/System/20261123-create-app-order.yml'

export const files = {
  [ran]: migration!,
  'migrations/System/tables.json': tables!,
  'waypost.yml': `config: { title: Notes }
routes:
  /note: !include resources/note.yml # notes
schema: !include resources/schema.yml
connection: { Files: { class: sqlite, config: { file: files.db } } }
event: { made: { description: Made, scopes: [note] } }
`,
  'migrations/Files/20261101-a.yml': 'create_table: { a: { columns: { id: id } } }\n',
  'resources/note.yml': `# of all users
methods:
  GET: { public: true, response: Note, action: src/note.ts }
  POST: { scopes: [note], request: Note, response: Note, action: src/note.ts, dispatch: made }
`,
  'resources/schema.yml': `# all
Note: { type: object, properties: { text: { type: string }, other: { $ref: 'schema:///Other' } } }
Other: { type: object }
`,
  'src/note.ts': actionFile("return { text: 'milk' }"),
}

type Call = (line: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>

export const secret = 'v4lue-of-this-host'

/** A server with a release of `files`, the users ann and ben, and a second host of its System. */
export function useDraftServer(newSystem: () => Promise<string>) {
  let world: ProjectServer
  let ann: Call
  let ben: Call
  let reader: Call
  let second: Host
  let connected = 0
  const far = createServer((socket) => {
    connected += 1
    socket.destroy()
  })
  before(async () => {
    await new Promise<void>((resolve) => far.listen(0, '127.0.0.1', resolve))
    const { port } = far.address() as AddressInfo
    const systemUrl = await newSystem()
    world = await openProjectServer({
      files,
      systemUrl,
      keepsFiles: true,
      variables: { FAR_URL: `postgresql://far:${secret}@127.0.0.1:${port}/far` },
    })
    const scopes = ['backend.read', 'backend.write', 'backend.deploy']
    for (const name of ['ann', 'ben'])
      await addUser(world.host.system, { name, password: 'correct horse battery', scopes: [...scopes, 'note'] })
    const as = async (user: string, given: readonly string[]): Promise<Call> => {
      const token = (await issueHostToken(asCommand(world.host), { user, scopes: given, expires: undefined }))
        .access_token
      return async (line, body, headers = {}) => {
        const [method = '', path = ''] = line.split(' ')
        const request = { method, path: `/backend${path}`, headers: { authorization: `Bearer ${token}`, ...headers } }
        const answer = await send(world.port, body === undefined ? request : { ...request, body })
        if (answer.status < 300) assertDescribed(method, path, answer)
        return answer
      }
    }
    ann = await as('ann', ['backend.read', 'backend.write'])
    ben = await as('ben', ['backend.read', 'backend.write'])
    reader = await as('ben', ['backend.read', 'backend.deploy'])
    second = await openHost({ folder: world.host.folder, variables: world.host.environment, disposable: true })
  })
  after(async () => {
    far.close()
    await second.close()
    await world[Symbol.asyncDispose]()
  })
  afterEach(async () => {
    await ann('POST /draft/discard', {})
  })

  const state = async () => (await ann('GET /draft')).body
  const names = async () => (await state()).entries.map(({ name }: { readonly name: string }) => name)
  const put = (call: Call, at: string, value: unknown, headers = {}) =>
    call(`PUT /draft/value?at=${encodeURIComponent(at)}`, { value }, headers)
  /** Records a migration as run, as after a publication whose activation failed. Returns a function that forgets it. */
  const markRan = async (file: string, text: string) => {
    const { db } = world.host.system
    const name = path.basename(file, '.yml')
    const { checksum } = parseMigration(file, text)
    await sql`insert into waypost_migration values (${name}, ${checksum}, ${new Date().toISOString()})`.execute(db)
    return () => sql`delete from waypost_migration where name = ${name}`.execute(db)
  }
  const ok = (answer: Answer) => assert.equal(answer.status, 200, answer.text)

  const active = async () =>
    (await world.host.system.db.selectFrom('waypost_active').select('release_id').executeTakeFirstOrThrow()).release_id!
  return {
    get world() {
      return world
    },
    get ann() {
      return ann
    },
    get ben() {
      return ben
    },
    get reader() {
      return reader
    },
    get second() {
      return second
    },
    get connected() {
      return connected
    },
    state,
    names,
    put,
    markRan,
    ok,
    active,
  }
}
