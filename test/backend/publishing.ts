import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { SystemDraft } from '../../src/backend/index.ts'
import { version } from '../../src/kit/index.ts'
import { loadActiveRelease } from '../../src/release/index.ts'
import { chooseKinds } from '../support/forms.ts'
import type { TestAnswer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { openAdmin, type AdminWorld } from './admin.ts'

const by = { id: 'u1', name: 'bob' }

export const route = (where: string, more = '') =>
  `routes:
  ${where}:
    methods:
      GET: { public: true, action: List${more} }
`
export const list = (table = 'app_note', more = '') => `action:
  List: { class: sql-table, config: { table: ${table}, columns: [id, text${more}] } }
`
export const createNote = `create_table:
  app_note:
    columns: { id: id, text: text(200) }
`

export const first = { 'waypost.yml': list() + route('/note'), 'migrations/System/20261101-note.yml': createNote }
export const yml = first['waypost.yml']

export const events = (...entries: readonly string[]) =>
  `event:\n${entries.map((one) => `  ${one}: { scopes: [] }\n`).join('')}`

/** Declares tests with a server and its draft, which they share: `begin` is where each of them starts. */
export function describePublishing(name: string, declare: (publishing: Publishing) => void): void {
  for (const kind of chooseKinds('sqlite')) {
    describe(`${name}, ${kind}`, () => {
      let world: AdminWorld
      let draft: SystemDraft
      before(async () => {
        world = await openAdmin(kind)
        draft = new SystemDraft(world.host, () => 'test')
      })
      after(async () => {
        draft.close()
        await world.close()
      })
      declare(makePublishing(() => ({ world, draft })))
    })
  }
}

type Publishing = ReturnType<typeof makePublishing>

function makePublishing(current: () => { readonly world: AdminWorld; readonly draft: SystemDraft }) {
  const write = async (files: Readonly<Record<string, string | undefined>>) => {
    const { texts } = await current().draft.read()
    const changes = Object.entries(files).map(([file, text]) => ({ file, text, before: texts.get(file) }))
    assert.ok(await current().draft.write(changes, { by }), 'written')
  }
  const names = async () => (await current().draft.readState()).changes.map(({ name }) => name)
  const activeId = async () => (await loadActiveRelease(current().world.system))?.id ?? null
  const start = async (request: object = {}) =>
    current().world.call('POST /draft/publish', { json: { against: await activeId(), ...request } })
  const finished = async (id: string) => {
    let found: TestAnswer['body']
    await until('the publication ends', async () => {
      found = (await current().world.call(`GET /publish/${id}`)).body
      return found.state === 'activated' || found.state === 'failed'
    })
    return found
  }
  const publish = async (request: object = {}) => {
    const { status, body, text } = await start(request)
    assert.equal(status, 202, text)
    const found = await finished(body.id)
    assert.equal(found.state, 'activated', JSON.stringify(found.error))
    return found
  }
  const refused = async (request: object, code: string) => {
    const { status, body, text } = await start(request)
    assert.equal(body.type, `urn:waypost:errors#${code}`, text)
    assert.ok(status >= 400 && status < 500)
    return body
  }
  const plan = async (changes?: readonly string[]) => {
    const { status, body, text } = await current().world.call('POST /draft/plan', {
      json: changes === undefined ? {} : { changes },
    })
    assert.equal(status, 200, text)
    return body
  }
  /** The definition of the first release, with all migrations that ran, and without a draft. */
  const begin = async () => {
    await current().world.system.db.deleteFrom('waypost_server').execute()
    await current().draft.discard(undefined, by)
    await write(first)
    if ((await names()).length > 0) await publish({ migrate: true, allow_breaking: true })
  }
  const addServer = (name: string, more: { readonly version?: string; readonly variables?: string } = {}) => {
    const now = current().world.system.now()
    const times = { started_at: now, heartbeat_at: now, state_at: now }
    const { version: own = version, variables = '' } = more
    const row = { id: name, name, version: own, variables, secret_ids: '', issuer: '', ...times }
    const status = { state: 'serving' as const, error: null, release_id: null, wanted_id: null }
    return current()
      .world.system.db.insertInto('waypost_server')
      .values({ ...row, ...status })
      .execute()
  }
  return {
    get world() {
      return current().world
    },
    get draft() {
      return current().draft
    },
    write,
    names,
    activeId,
    start,
    finished,
    publish,
    refused,
    plan,
    begin,
    addServer,
  }
}
