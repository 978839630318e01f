import assert from 'node:assert/strict'
// oxlint-disable typescript/no-explicit-any -- the schemas of the routes check the answers
import { after, afterEach, before, test } from 'node:test'
import { addUser } from '../../src/auth/index.ts'
import { SystemDraft } from '../../src/backend/index.ts'
import { openHost, type Host } from '../../src/host/index.ts'
import { issueHostToken } from '../../src/operate/index.ts'
import { actionFile, describeEachSystem, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send, type Answer } from '../support/send.ts'
import { asCommand } from '../support/server.ts'
import { readTemplate } from '../support/template.ts'
import { assertDescribed } from './admin.ts'

const { 'migrations/System/20261123-create-app-order.yml': migration, 'migrations/System/tables.json': tables } =
  readTemplate('crud')

const ran = 'migrations/System/20261123-create-app-order.yml'
const files = {
  [ran]: migration!,
  'migrations/System/tables.json': tables!,
  'waypost.yml': `config: { title: Notes }
routes:
  /note: !include resources/note.yml # notes
schema: !include resources/schema.yml
event: { made: { description: Made, scopes: [note] } }
`,
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

describeEachSystem('the draft of a server', ({ kind, newSystem }) => {
  let world: ProjectServer
  let ann: Call
  let ben: Call
  let reader: Call
  let second: Host
  before(async () => {
    const systemUrl = await newSystem()
    world = await openProjectServer({ files, systemUrl, keepsFiles: true })
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
    await second.close()
    await world[Symbol.asyncDispose]()
  })
  afterEach(async () => {
    await ann('POST /draft/discard', {})
  })

  const state = async () => (await ann('GET /draft')).body
  const names = async () => (await state()).entries.map((entry: any) => entry.name)
  const put = (call: Call, at: string, value: unknown, headers = {}) =>
    call(`PUT /draft/value?at=${encodeURIComponent(at)}`, { value }, headers)
  const ok = (answer: Answer) => assert.equal(answer.status, 200, answer.text)

  test('is the files of the active release until something changes', async () => {
    const draft = await state()
    assert.deepEqual([draft.mode, draft.name, draft.path, draft.folder], ['server', 'Notes', null, null])
    assert.deepEqual(draft.base, { kind: 'release', name: world.release.id.slice(0, 8) })
    assert.deepEqual([draft.entries, draft.changes, draft.conflicts, draft.history], [[], [], [], []])
    assert.deepEqual([draft.diagnostics, draft.is_served, draft.publish], [[], true, null])
    assert.equal(await world.host.system.db.selectFrom('waypost_draft').selectAll().executeTakeFirst(), undefined)
    const { body } = await ann('GET /draft/files?of=active')
    assert.deepEqual(
      body.entry.map(({ file }: any) => file).toSorted(),
      Object.keys(files)
        .filter((file) => !file.endsWith('.ts'))
        .toSorted(),
    )
  })

  test('keeps changes with their authors, and serves none of them', async () => {
    ok(await put(ann, '/event/kept', { description: 'Kept', scopes: ['note'] }))
    ok(await put(ben, '/routes/~1note/methods/GET/description', 'Lists notes'))
    const draft = await state()
    assert.deepEqual(
      draft.entries.map(({ name, file, status, by }: any) => [name, file, status, by]),
      [
        ['/routes/~1note/methods/GET', 'resources/note.yml', 'changed', 'ben'],
        ['/event/kept', 'waypost.yml', 'added', 'ann'],
      ],
    )
    assert.deepEqual(
      draft.history.map(({ by, entries }: any) => [by, entries]),
      [
        ['ben', ['/routes/~1note/methods/GET']],
        ['ann', ['/event/kept']],
      ],
    )
    assert.equal(draft.is_served, false)
    assert.doesNotMatch((await send(world.port, { path: '/openapi.json' })).text, /Lists notes/)
    const { body: file } = await ann('GET /draft/file?path=resources/note.yml')
    assert.match(file.text, /^# of all users\nmethods:\n {2}GET: \{ public: true, .*description: Lists notes/)
    ok(await ann('POST /draft/discard', { changes: ['/event/kept'] }))
    assert.deepEqual(await names(), ['/routes/~1note/methods/GET'])
    ok(await ann('POST /draft/discard', {}))
    assert.deepEqual(await names(), [])
    assert.deepEqual(await world.host.system.db.selectFrom('waypost_draft_change').selectAll().execute(), [])
  })

  test('refuses errors, code and changes without the scope', async () => {
    const broken = await put(ann, '/routes/~1note/methods/GET/response', 'Missing')
    assert.deepEqual([broken.status, broken.body.diagnostics[0].at], [422, '/routes/~1note/methods/GET/response'])
    assert.equal((await put(reader, '/event/made/description', 'x')).status, 403)
    const route = await ann('POST /draft/route', { method: 'GET', path: '/more' })
    assert.match(route.body.type, /WP_BACKEND_DRAFT_CODE/)
    const added = await put(ann, '/routes/~1more', { methods: { GET: { public: true, action: 'src/more.ts' } } })
    assert.match(added.text, /src\/more\.ts/)
    assert.deepEqual((await ann('GET /draft/action')).body.entry, [
      { file: 'src/note.ts', used_by: ['GET /note', 'POST /note'] },
    ])
    ok(await put(ann, '/routes/~1more', { methods: { GET: { public: true, action: 'src/note.ts' } } }))
  })

  test('of two administrators keeps disjoint changes; overlapping ones get the current value', async () => {
    const [one, other] = await Promise.all(
      [ann, ben].map((call) => call('GET /draft/value?at=/event/made/description')),
    )
    const [title] = await Promise.all([
      put(ben, '/config/title', 'Ideas'),
      put(ann, '/schema/Other', { type: 'string' }),
      put(ann, '/schema/New', { type: 'string' }),
    ])
    ok(title)
    assert.deepEqual((await names()).toSorted(), ['/config/title', '/schema/New', '/schema/Other'])
    ok(await put(ann, '/event/made/description', 'Ann', { 'if-match': one!.headers.etag! }))
    const late = await put(ben, '/event/made/description', 'Ben', { 'if-match': other!.headers.etag! })
    assert.equal(late.status, 412)
    assert.equal(late.body.conflicts[0].value, 'Ann')
  })

  test('of two servers loses nothing', async () => {
    const drafts = [new SystemDraft(world.host, () => 'one'), new SystemDraft(second, () => 'two')]
    const by = { id: 'x', name: 'x' }
    const add = async (draft: SystemDraft, file: string) => {
      for (;;) {
        const { texts } = await draft.read()
        const before = texts.get(file)!
        const written = await draft.write([{ file, text: `${before}# ${draft.name}\n`, before }], { by })
        if (written !== undefined) return
      }
    }
    const same = drafts.flatMap((draft) => Array.from({ length: 5 }, () => add(draft, 'waypost.yml')))
    const own = drafts.map((draft, index) => add(draft, ['resources/note.yml', 'resources/schema.yml'][index]!))
    await Promise.all([...same, ...own])
    const { texts } = await drafts[0]!.read()
    assert.deepEqual((await drafts[1]!.read()).texts, texts)
    const comments = texts
      .get('waypost.yml')!
      .match(/^# (one|two)$/gm)!
      .toSorted()
    assert.deepEqual(comments, [
      ...Array.from({ length: 5 }, () => '# one'),
      ...Array.from({ length: 5 }, () => '# two'),
    ])
    assert.match(texts.get('resources/note.yml')!, /# one\n$/)
    assert.match(texts.get('resources/schema.yml')!, /# two\n$/)
    for (const draft of drafts) draft.close()
    assert.deepEqual(await names(), ['resources/note.yml', 'resources/schema.yml', 'waypost.yml'])
  })
  void kind
})
