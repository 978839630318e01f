// oxlint-disable typescript/no-explicit-any -- the schemas of the routes check the answers
import assert from 'node:assert/strict'
import { chooseKinds, isLong } from '../support/forms.ts'
import { test } from 'node:test'
import { loadStagedVariables } from '../../src/backend/draft/system/staged-variables.ts'
import { SystemDraft } from '../../src/backend/index.ts'
import { sha256 } from '../../src/kit/index.ts'
import { describeSystems } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { useDraftServer, ran, files, secret } from './draft-server.ts'

describeSystems('the draft of a server', chooseKinds('postgresql'), ({ kind, newSystem }) => {
  const server = useDraftServer(newSystem)
  const { state, names, put, markRan, ok, active } = server

  test('is the files of the active release until something changes', async () => {
    const draft = await state()
    assert.deepEqual([draft.mode, draft.name, draft.path, draft.folder], ['server', 'Notes', null, null])
    assert.deepEqual(draft.base, { kind: 'release', name: server.world.release.id.slice(0, 8) })
    assert.deepEqual([draft.entries, draft.changes, draft.conflicts, draft.history], [[], [], [], []])
    assert.deepEqual([draft.diagnostics, draft.is_served, draft.publish], [[], true, null])
    assert.equal(
      await server.world.host.system.db.selectFrom('waypost_draft').selectAll().executeTakeFirst(),
      undefined,
    )
    const { body } = await server.ann('GET /draft/files?of=active')
    assert.deepEqual(
      body.entry.map(({ file }: any) => file).toSorted(),
      Object.keys(files)
        .filter((file) => !file.endsWith('.ts'))
        .toSorted(),
    )
  })

  test('keeps changes with their authors, and serves none of them', async () => {
    ok(await put(server.ann, '/event/kept', { description: 'Kept', scopes: ['note'] }))
    ok(await put(server.ben, '/routes/~1note/methods/GET/description', 'Lists notes'))
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
    assert.doesNotMatch((await send(server.world.port, { path: '/openapi.json' })).text, /Lists notes/)
    const { body: file } = await server.ann('GET /draft/file?path=resources/note.yml')
    assert.match(file.text, /^# of all users\nmethods:\n {2}GET: \{ public: true, .*description: Lists notes/)
    ok(await server.ann('POST /draft/discard', { changes: ['/event/kept'] }))
    assert.deepEqual(await names(), ['/routes/~1note/methods/GET'])
    ok(await server.ann('POST /draft/discard', {}))
    assert.deepEqual(await names(), [])
    assert.deepEqual(await server.world.host.system.db.selectFrom('waypost_draft_change').selectAll().execute(), [])
  })

  test('refuses errors, code and changes without the scope', async () => {
    const broken = await put(server.ann, '/routes/~1note/methods/GET/response', 'Missing')
    assert.deepEqual([broken.status, broken.body.diagnostics[0].at], [422, '/routes/~1note/methods/GET/response'])
    assert.equal((await put(server.reader, '/event/made/description', 'x')).status, 403)
    const route = await server.ann('POST /draft/route', { method: 'GET', path: '/more' })
    assert.match(route.body.type, /WP_BACKEND_DRAFT_CODE/)
    const added = await put(server.ann, '/routes/~1more', { methods: { GET: { public: true, action: 'src/more.ts' } } })
    assert.match(added.text, /src\/more\.ts/)
    assert.deepEqual((await server.ann('GET /draft/action')).body.entry, [
      { file: 'src/note.ts', used_by: ['GET /note', 'POST /note'] },
    ])
    ok(await put(server.ann, '/routes/~1more', { methods: { GET: { public: true, action: 'src/note.ts' } } }))
  })

  test('of two administrators keeps disjoint changes; overlapping ones get the current value', async () => {
    const [one, other] = await Promise.all(
      [server.ann, server.ben].map((call) => call('GET /draft/value?at=/event/made/description')),
    )
    const [title] = await Promise.all([
      put(server.ben, '/config/title', 'Ideas'),
      put(server.ann, '/schema/Other', { type: 'string' }),
      put(server.ann, '/schema/New', { type: 'string' }),
    ])
    ok(title)
    assert.deepEqual((await names()).toSorted(), ['/config/title', '/schema/New', '/schema/Other'])
    ok(await put(server.ann, '/event/made/description', 'Ann', { 'if-match': one!.headers.etag! }))
    const late = await put(server.ben, '/event/made/description', 'Ben', { 'if-match': other!.headers.etag! })
    assert.equal(late.status, 412)
    assert.equal(late.body.conflicts[0].value, 'Ann')
  })

  test('of two servers loses nothing', async () => {
    const drafts = [new SystemDraft(server.world.host, () => 'one'), new SystemDraft(server.second, () => 'two')]
    const by = { id: 'x', name: 'x' }
    const add = async (draft: SystemDraft, file: string) => {
      for (;;) {
        const { texts } = await draft.read()
        const before = texts.get(file)!
        const written = await draft.write([{ file, text: `${before}# ${draft.name}\n`, before }], { by })
        if (written !== undefined) return
      }
    }
    const count = isLong ? 5 : 3
    const same = drafts.flatMap((draft) => Array.from({ length: count }, () => add(draft, 'waypost.yml')))
    const own = drafts.map((draft, index) => add(draft, ['resources/note.yml', 'resources/schema.yml'][index]!))
    await Promise.all([...same, ...own])
    const { texts } = await drafts[0]!.read()
    assert.deepEqual((await drafts[1]!.read()).texts, texts)
    const comments = texts
      .get('waypost.yml')!
      .match(/^# (one|two)$/gm)!
      .toSorted()
    assert.deepEqual(comments, [
      ...Array.from({ length: count }, () => '# one'),
      ...Array.from({ length: count }, () => '# two'),
    ])
    assert.match(texts.get('resources/note.yml')!, /# one\n$/)
    assert.match(texts.get('resources/schema.yml')!, /# two\n$/)
    for (const draft of drafts) draft.close()
    assert.deepEqual(await names(), ['resources/note.yml', 'resources/schema.yml', 'waypost.yml'])
  })

  test('creates tables and their API, and amends a migration until it runs', async () => {
    const { body: shown } = await server.ann('GET /draft/table?connection=System&table=app_order')
    assert.equal(shown.table.amends, null)
    const columns = [
      { name: 'id', type: 'id' },
      { name: 'title', type: 'text', length: 64 },
    ]
    const design = { name: 'app_idea', columns, key: [], unique: [], index: [] }
    const change = (table: string | null, wanted: unknown) =>
      server.ann('POST /draft/migration', { connection: 'System', table, design: wanted, preview: false })
    const created = await change(null, design)
    ok(created)
    assert.deepEqual([created.body.problems, created.body.failed, created.body.can_undo], [[], null, true])
    const { file } = created.body.change
    const again = await change('app_idea', {
      ...design,
      columns: [
        ...columns.map((one) => ({ ...one, was: one.name })),
        { name: 'done', type: 'boolean', default: false },
      ],
    })
    ok(again)
    assert.equal(again.body.change.file, file)
    const second = {
      ...design,
      name: 'app_vote',
      columns: [...columns, { name: 'idea_id', type: 'bigint', references: 'app_idea' }],
    }
    const both = await change(null, second)
    ok(both)
    assert.deepEqual(both.body.problems, [])
    assert.equal(both.body.change.file, file, 'the tables of a draft share a migration')
    assert.match(both.body.change.text, /app_idea:[^]*app_vote:/)
    const api = await server.ann('POST /draft/table-api', {
      connection: 'System',
      table: 'app_idea',
      path: '/idea',
      methods: [
        { method: 'GET', at: 'list', public: true, scopes: [] },
        { method: 'POST', at: 'list', public: false, scopes: ['idea'] },
      ],
      new_scopes: [{ name: 'idea', description: 'Adds ideas' }],
      preview: false,
    })
    ok(api)
    assert.deepEqual([api.body.methods, api.body.failed], [['GET /idea', 'POST /idea'], null])
    assert.deepEqual(await names(), ['/routes/~1idea', '/scope/idea', '/action/Idea', file])
    assert.deepEqual(
      (await state()).diagnostics.filter(({ severity }: any) => severity === 'error'),
      [],
    )
    assert.deepEqual((await server.ann('POST /draft/discard', {})).body.kept, [])
  })

  test('keeps migrations that ran as they are', async () => {
    const { body } = await server.ann(`GET /draft/file?path=${ran}`)
    const edited = await server.ann(`PUT /draft/file?path=${ran}`, { text: body.text.replace('text(64)', 'text(65)') })
    assert.match(edited.body.type, /WP_BACKEND_DRAFT_MIGRATION/)
    assert.equal((await server.ann(`DELETE /draft/file?path=${ran}`)).status, 409)
    const elsewhere = 'migrations/Files/20261101-a.yml'
    const renamed = { text: files[elsewhere].replace('a:', 'b:') }
    assert.match((await server.ann(`PUT /draft/file?path=${elsewhere}`, renamed)).text, /WP_BACKEND_DRAFT_MIGRATION/)
    const pending = elsewhere.replace('-a.', '-b.')
    for (const name of ['b', 'c'])
      ok(await server.ann(`PUT /draft/file?path=${pending}`, { text: files[elsewhere].replace('a:', `${name}:`) }))
    const file = 'migrations/System/20990101-failed.yml'
    const text = 'create_table:\n  app_failed: { columns: { id: id } }\n'
    ok(await server.ann(`PUT /draft/file?path=${file}`, { text }))
    ok(await put(server.ben, '/config/title', 'Ideas'))
    const forget = await markRan(file, text)
    const { body: discarded } = await server.ann('POST /draft/discard', {})
    assert.deepEqual(
      discarded.kept.map((one: any) => one.name),
      [file],
    )
    assert.deepEqual(await names(), [file])
    await forget()
  })

  test('can be discarded if its files are damaged; a migration that ran stays', async () => {
    const { db } = server.world.host.system
    const other = new SystemDraft(server.second, () => '')
    const file = 'migrations/System/20990101-ran.yml'
    const text = 'create_table:\n  app_ran: { columns: { id: id } }\n'
    const before = files['waypost.yml']
    const edited = before.replace('title: Notes', 'title: Damaged')
    const changes = [
      { file, text, before: undefined },
      { file: 'waypost.yml', text: edited, before },
    ]
    assert.ok(await other.write(changes, { by: { id: 'x', name: 'ann' } }))
    other.close()
    const forget = await markRan(file, text)
    await db.updateTable('waypost_file').set({ content: 'x' }).where('hash', '=', sha256(edited)).execute()
    for (const answer of [
      await server.ann('GET /draft'),
      await server.ann('POST /draft/discard', { changes: ['/config/title'] }),
    ]) {
      assert.equal(answer.status, 409, answer.text)
      assert.match(answer.body.type, /#WP_BACKEND_DRAFT_DAMAGED$/)
      assert.match(answer.body.hint, /Discard all changes/)
    }
    const { body } = await server.ann('POST /draft/discard', {})
    assert.deepEqual([body.kept.map((one: any) => one.name), await names()], [[file], [file]])
    await forget()
    await db
      .updateTable('waypost_draft')
      .set({ files: sha256('no list') })
      .execute()
    assert.equal((await server.ann('GET /draft')).status, 409)
    ok(await server.ann('POST /draft/discard', {}))
    assert.deepEqual(await names(), [])
  })

  test('stages variables, whose values are in clear nowhere', async () => {
    const value = `secret-${kind}-3n2k`
    const { db } = server.world.host.system
    ok(await server.ann('PUT /draft/variable/API_KEY', { value }))
    await db
      .insertInto('waypost_variable')
      .values({ id: 'USED', value: 'x', revision: '1', changed_at: 1, changed_by: 'x' })
      .execute()
    assert.deepEqual((await server.ann('PUT /draft/variable/USED', { value })).body, { name: 'USED_2' })
    await db.deleteFrom('waypost_variable').execute()
    for (const name of ['WAYPOST_SECRET', 'A-B', '__proto__x '])
      assert.ok(
        [400, 409, 422].includes(
          (await server.ann(`PUT /draft/variable/${encodeURIComponent(name)}`, { value })).status,
        ),
        name,
      )
    const { variables } = await state()
    assert.deepEqual(
      variables.map(({ name, by }: any) => [name, by]),
      [
        ['API_KEY', 'ann'],
        ['USED_2', 'ann'],
      ],
    )
    for (const target of ['/draft', '/draft/files?of=draft', '/variable', '/draft/diff', '/draft/value?at='])
      assert.doesNotMatch((await server.reader(`GET ${target}`)).text, new RegExp(value), target)
    const rows = await db.selectFrom('waypost_draft_variable').selectAll().execute()
    assert.equal(JSON.stringify(rows).includes(value), false)
    assert.deepEqual(await loadStagedVariables(server.second), { API_KEY: value, USED_2: value })
    ok(
      await put(server.ann, '/connection/Web', {
        class: 'http',
        config: { url: 'https://example.com', auth: { bearer: '${env.API_KEY}' } },
      }),
    )
    ok(await server.ann('POST /draft/discard', { changes: [] }))
    assert.deepEqual(
      (await state()).variables.map(({ name }: any) => name),
      ['API_KEY'],
    )
    ok(await server.ann('POST /draft/discard', {}))
    assert.deepEqual((await state()).variables, [])
  })

  test('has the limits of definition files', async () => {
    const text = `# ${'x'.repeat(1024 * 1024 - 10)}\n`
    const put9 = Array.from({ length: 9 }, (_, index) => ({ file: `resources/${index}.yml`, text }))
    const large = await server.ann('PATCH /draft', { files: put9 })
    assert.match(large.text, /larger than 8 MB/)
    const many = Array.from({ length: 2000 }, (_, index) => ({ file: `resources/${index}.yml`, text: '' }))
    assert.match((await server.ann('PATCH /draft', { files: many })).text, /more than 2000 files/)
    for (const file of [
      'package.json',
      'src/a.ts',
      '../x.yml',
      'resources/.env.yml',
      'other/x.yml',
      'Resources/NOTE.yml',
    ])
      assert.equal(
        (await server.ann(`PUT /draft/file?path=${encodeURIComponent(file)}`, { text: '{}' })).status,
        422,
        file,
      )
    assert.match(
      (await server.ann('PUT /draft/file?path=resources/Note.yml', { text: '{}' })).text,
      /upper and lower case/,
    )
    const dense = `[${'1,'.repeat(200_001)}1]`
    for (const answer of [
      await server.ann('PUT /draft/file?path=resources/dense.yml', { text: dense }),
      await server.ann('PUT /draft/file?path=migrations/System/20990102-dense.yml&with_errors=true', { text: dense }),
      await put(server.ann, '/schema/Dense', { enum: JSON.parse(dense) }),
    ])
      assert.deepEqual([answer.status, /200,000 lines/.test(answer.text)], [422, true])
    assert.deepEqual(await names(), [])
  })

  test('cannot open connections, read variables or serve anything', async () => {
    const before = await server.world.host.system.db.selectFrom('waypost_active').selectAll().execute()
    const connection = { class: 'postgresql', config: { url: '${env.FAR_URL}' } }
    ok(await put(server.ann, '/connection/Evil', connection))
    ok(await put(server.ann, '/routes/~1evil', { methods: { GET: { public: true, action: 'src/note.ts' } } }))
    for (const target of [
      '/draft',
      '/draft/table?connection=Evil&table=x',
      '/draft/action',
      '/release/draft/definition',
    ])
      assert.doesNotMatch((await server.ann(`GET ${target}`)).text, new RegExp(secret), target)
    const plan = await server.ann('POST /draft/plan', {})
    assert.equal(plan.status, 200, plan.text)
    assert.doesNotMatch(plan.text, new RegExp(secret))
    for (const [line, body] of [
      ['POST /draft/publish', { against: null }],
      ['POST /connection/Evil/test', {}],
      ['PUT /variable/A', { value: '1' }],
      ['POST /release/x/rollback', {}],
    ] as const)
      assert.equal((await server.ann(line, body)).status, 403, line)
    assert.equal((await send(server.world.port, { path: '/evil' })).status, 404)
    assert.equal(server.connected, 0)
    assert.deepEqual(await server.world.host.system.db.selectFrom('waypost_active').selectAll().execute(), before)
  })

  // Last: it deploys other releases.
  test('follows a deployment from Git, and lists what both changed', async () => {
    ok(await put(server.ann, '/event/made/description', 'Mine'))
    ok(await put(server.ben, '/routes/~1note/methods/GET/description', 'Lists notes'))
    const deploy = (description: string, title: string) =>
      server.world.deploy({
        'waypost.yml': files['waypost.yml']
          .replace('description: Made', `description: ${description}`)
          .replace('title: Notes', `title: ${title}`),
      })
    await deploy('Made', 'Theirs')
    const followed = await state()
    assert.deepEqual([followed.conflicts, followed.base.name], [[], (await active()).slice(0, 8)])
    assert.deepEqual(
      followed.entries.map(({ name, by }: any) => [name, by]),
      [
        ['/routes/~1note/methods/GET', 'ben'],
        ['/event/made', 'ann'],
      ],
    )
    assert.equal((await server.ann('GET /draft/value?at=/config/title')).body.value, 'Theirs')
    ok(await put(server.ben, '/config/backend_session', '2h'))
    await deploy('Theirs', 'Theirs')
    const { conflicts, revision, entries } = await state()
    const conflict = { name: '/event/made/description', at: '/event/made/description', file: 'waypost.yml' }
    assert.deepEqual(conflicts, [{ ...conflict, base: 'Made', theirs: 'Theirs', mine: 'Mine' }])
    assert.equal(entries.length, 3)
    const { published } = await state()
    assert.deepEqual([published.by, Date.parse(published.at) > 0], ['test', true])
    ok(await put(server.ben, '/config/backend_session', '3h'))
    assert.equal((await server.ann('POST /draft/rebase', { revision, take: {} })).status, 412)
    const { revision: now } = await state()
    const undecided = await server.ann('POST /draft/rebase', { revision: now, take: {} })
    assert.deepEqual([undecided.status, undecided.body.conflicts.length], [409, 1])
    ok(await server.ann('POST /draft/rebase', { revision: now, take: { '/event/made/description': 'theirs' } }))
    const rebased = await state()
    assert.deepEqual(
      [rebased.conflicts, await names()],
      [[], ['/config/backend_session', '/routes/~1note/methods/GET']],
    )
    assert.match((await server.ann('GET /draft/file?path=resources/note.yml')).body.text, /^# of all users/)
    ok(await server.ann('POST /draft/discard', {}))
    ok(await server.ann('POST /draft/open', { activation: 2 }))
    assert.deepEqual(await names(), ['/config/title', '/event/made'])
    assert.equal((await server.ann('POST /draft/open', { activation: 2 })).status, 409)
    ok(await server.ann('POST /draft/discard', {}))
    assert.equal((await server.ann('POST /draft/open', { activation: 999 })).status, 404)
  })
})
