import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { bodyOf, openDraft, type DraftWorld } from '../../support/draft-world.ts'
import { until } from '../../support/until.ts'

const files = {
  'waypost.yml': `# the API
schema:
  Todo: { type: object, properties: { id: { type: integer } } } # a task
routes:
  /todo: !include resources/routes/todo.yml
  /done: !include resources/routes/done.yml # finished ones
`,
  'resources/routes/todo.yml': `# collection
methods:
  GET:
    public: true # everyone
    response: Todo
    action: src/todo.ts
`,
  'resources/routes/done.yml': 'methods:\n  GET: { public: true, action: src/todo.ts }\n',
  'src/todo.ts': 'export default class Todo {\n  handle() {\n    return { id: 1 }\n  }\n}\n',
}

const method = '/routes/~1todo/methods/GET'
const valuePath = (at: string, more = '') => `/draft/value?at=${encodeURIComponent(at)}${more}`

describe('editing the draft of a folder', () => {
  let world: DraftWorld
  before(async () => {
    world = await openDraft(files)
  })
  after(() => world[Symbol.asyncDispose]())
  beforeEach(async () => {
    const { files: listed } = bodyOf(await world.call('PATCH /draft', await restore()))
    if (listed.length > 0) await until('it is served', async () => bodyOf(await world.call('GET /draft')).is_served)
  })

  /** A change that restores all files. */
  async function restore() {
    const { changes } = bodyOf(await world.call('GET /draft'))
    const texts: Readonly<Record<string, string>> = files
    return {
      with_errors: true,
      files: changes.map(({ file }: { file: string }) => ({ file, text: texts[file] ?? null })),
    }
  }
  const patch = (json: unknown) => world.call('PATCH /draft', json)

  test('changes one value, keeps everything else, and answers when it is served', async () => {
    const seen = world.reports.length
    const saved = bodyOf(await patch({ edits: [{ at: `${method}/description`, value: 'All tasks' }] }))
    assert.deepEqual([saved.changes, saved.files, saved.is_served], [1, ['resources/routes/todo.yml'], true])
    assert.equal(
      await world.read('resources/routes/todo.yml'),
      files['resources/routes/todo.yml'].trimEnd() + '\n    description: All tasks\n',
    )
    const served = (await (await fetch(`${world.dev.started.url}/openapi.json`)).json()) as {
      paths: Record<string, { get: { summary?: string; description?: string } }>
    }
    assert.match(JSON.stringify(served.paths['/todo']!.get), /All tasks/)
    const reloads = world.reports.slice(seen).filter(({ what }) => what === 'reloaded')
    assert.deepEqual(
      reloads.map(({ about }) => [about.files, about.origin]),
      [[['resources/routes/todo.yml'], 'backend']],
    )
    const { revision } = bodyOf(await world.call('GET /draft'))
    assert.equal(revision, saved.revision)
  })

  test('changes of the backend and of an editor by turns are all served', async () => {
    const describe = async (route: string) => {
      const document = (await (await fetch(`${world.dev.started.url}/openapi.json`)).json()) as {
        paths: Record<string, { get: { summary?: string } }>
      }
      return document.paths[route]!.get.summary
    }
    const done = 'resources/routes/done.yml'
    for (const turn of ['One', 'Two', 'Three']) {
      bodyOf(await patch({ edits: [{ at: `${method}/description`, value: `Backend ${turn}` }] }))
      assert.equal(await describe('/todo'), `Backend ${turn}`)
      const text = `methods:\n  GET: { public: true, description: Editor ${turn}, action: src/todo.ts }\n`
      await world.write(done, text)
      await until('the change of the editor is served', async () => (await describe('/done')) === `Editor ${turn}`)
      assert.equal(await describe('/todo'), `Backend ${turn}`)
      const files = [{ file: done, text: text.replace('Editor', 'Backend') }]
      bodyOf(await patch({ edits: [{ at: `${method}/timeout`, value: '5s' }], files }))
      assert.deepEqual([await describe('/todo'), await describe('/done')], [`Backend ${turn}`, `Backend ${turn}`])
    }
  })

  test('several values and files are one change with one reload', async () => {
    const seen = world.reports.length
    const route = { methods: { GET: { public: true, action: 'src/todo.ts' } } }
    const saved = bodyOf(
      await patch({
        edits: [
          { at: '/routes/~1late', value: route, if: null },
          { at: `${method}/timeout`, value: '5s' },
        ],
        files: [{ file: 'resources/routes/done.yml', text: `# new\n${files['resources/routes/done.yml']}` }],
      }),
    )
    assert.deepEqual(saved.files.toSorted(), [
      'resources/routes/done.yml',
      'resources/routes/late.yml',
      'resources/routes/todo.yml',
      'waypost.yml',
    ])
    assert.deepEqual([saved.changes, saved.is_served], [3, true])
    assert.equal(world.reports.slice(seen).filter(({ what }) => what === 'reloadFailed').length, 0)
    assert.equal((await fetch(`${world.dev.started.url}/late`)).status, 200)
  })

  test('the inverse restores every byte, also of removed entries with their files and comments', async () => {
    const saved = bodyOf(await patch({ edits: [{ at: '/routes/~1done' }, { at: `${method}/timeout`, value: '5s' }] }))
    assert.deepEqual(saved.files.toSorted(), ['resources/routes/done.yml', 'resources/routes/todo.yml', 'waypost.yml'])
    await assert.rejects(world.read('resources/routes/done.yml'))
    const undone = bodyOf(await patch(saved.inverse))
    assert.equal(undone.is_served, true)
    for (const file of ['waypost.yml', 'resources/routes/todo.yml', 'resources/routes/done.yml'] as const)
      assert.equal(await world.read(file), files[file])
  })

  test('the inverse restores the values if something else in their files has changed, and not if they have', async () => {
    const { inverse } = bodyOf(await patch({ edits: [{ at: '/routes/~1done' }] }))
    await patch({ edits: [{ at: '/schema/Other', value: { type: 'string' } }], with_errors: true })
    bodyOf(await patch(inverse))
    assert.deepEqual(bodyOf(await world.call(`GET ${valuePath('/routes/~1done')}`)).value, {
      methods: { GET: { public: true, action: 'src/todo.ts' } },
    })
    const again = await patch(inverse)
    assert.deepEqual([again.status, again.body.conflicts[0].at], [412, '/routes/~1done'])
  })

  test('the inverse of a value in new keys removes these, and of an item restores the list', async () => {
    const added = bodyOf(await patch({ edits: [{ at: '/rate/slow/limit', value: 5 }], with_errors: true }))
    assert.deepEqual(
      added.inverse.edits.map(({ at }: { at: string }) => at),
      ['/rate'],
    )
    const item = bodyOf(await patch({ edits: [{ at: '/schema/Todo/required/0', value: 'id' }], with_errors: true }))
    assert.deepEqual(
      item.inverse.edits.map(({ at }: { at: string }) => at),
      ['/schema/Todo/required'],
    )
  })

  test('two people who edit different values of one file do not collide; of the same value, the second gets the first', async () => {
    const { headers } = await world.call(`GET ${valuePath(method)}`)
    bodyOf(await patch({ edits: [{ at: '/routes/~1todo/scopes', value: [] }] }))
    bodyOf(await patch({ edits: [{ at: `${method}/timeout`, value: '5s' }] }))
    const second = await patch({ edits: [{ at: method, value: { action: 'src/todo.ts' }, if: headers.etag }] })
    assert.deepEqual([second.status, second.body.type], [412, 'urn:waypost:errors#WP_BACKEND_CHANGED'])
    const [conflict] = second.body.conflicts
    assert.deepEqual([conflict.at, conflict.value.timeout], [method, '5s'])
    const value = { ...conflict.value, timeout: '9s' }
    bodyOf(await patch({ edits: [{ at: method, value, if: conflict.etag }] }))
    const absent = await patch({ edits: [{ at: method, value, if: null }] })
    assert.equal(absent.status, 412)
  })

  test('PUT and DELETE of a value and a file take If-Match and If-None-Match', async () => {
    const at = '/schema/Plain'
    const value = { type: 'string' }
    const add = () => world.call(`PUT ${valuePath(at, '&with_errors=true')}`, { value }, { 'if-none-match': '*' })
    bodyOf(await add())
    assert.equal((await add()).status, 412)
    const { headers } = await world.call(`GET ${valuePath(at)}`)
    assert.equal((await world.call(`DELETE ${valuePath(at)}`, undefined, { 'if-match': '"other"' })).status, 412)
    bodyOf(await world.call(`DELETE ${valuePath(at)}`, undefined, { 'if-match': headers.etag! }))
    assert.equal((await world.call(`DELETE ${valuePath(at)}`)).status, 404)
    const file = '/draft/file?path=resources/notes.yml'
    bodyOf(await world.call(`PUT ${file}`, { text: '# one\n' }, { 'if-none-match': '*' }))
    const text = await world.call(`GET ${file}`)
    bodyOf(await world.call(`PUT ${file}`, { text: '# two\n' }, { 'if-match': text.headers.etag! }))
    const late = await world.call(`DELETE ${file}`, undefined, { 'if-match': text.headers.etag! })
    assert.deepEqual([late.status, late.body.conflicts[0].text], [412, '# two\n'])
    bodyOf(await world.call(`DELETE ${file}`))
    await assert.rejects(world.read('resources/notes.yml'))
  })

  test('a change with new errors is refused with their pointers, and saved on request; then the last state is served', async () => {
    const change = { edits: [{ at: `${method}/response`, value: 'Nope' }] }
    const refused = await patch(change)
    assert.deepEqual([refused.status, refused.body.type], [422, 'urn:waypost:errors#WP_BACKEND_DRAFT_ERRORS'])
    const [problem] = refused.body.diagnostics
    assert.deepEqual([problem.at, problem.file, problem.line], [`${method}/response`, 'resources/routes/todo.yml', 5])
    assert.equal(await world.read('resources/routes/todo.yml'), files['resources/routes/todo.yml'])
    const saved = bodyOf(await patch({ ...change, with_errors: true }))
    assert.equal(saved.is_served, false)
    assert.equal(saved.diagnostics.filter((one: { severity: string }) => one.severity === 'error').length, 1)
    assert.equal((await fetch(`${world.dev.started.url}/todo`)).status, 200)
    // Errors that were there before do not prevent other changes.
    bodyOf(await patch({ edits: [{ at: '/routes/~1done/methods/GET/timeout', value: '5s' }] }))
    const fixed = bodyOf(await patch({ edits: [{ at: `${method}/response`, value: 'Todo' }] }))
    assert.equal(fixed.is_served, true)
    const last = world.reports.at(-1)!
    assert.deepEqual([last.what, last.about.isFixed, last.about.origin], ['reloaded', true, 'backend'])
  })

  test('deleting a file that is included is a new error', async () => {
    const refused = await world.call('DELETE /draft/file?path=resources/routes/done.yml')
    assert.deepEqual([refused.status, refused.body.diagnostics[0].code], [422, 'WP_DEFINITION_INCLUDE_MISSING'])
  })

  test('a refused edit names the file and line; a value in a broken file is not taken for absent', async () => {
    await world.write('resources/routes/todo.yml', 'methods: [')
    const refused = await patch({ edits: [{ at: `${method}/timeout`, value: '5s', if: '"x"' }], with_errors: true })
    assert.deepEqual([refused.status, refused.body.type], [422, 'urn:waypost:errors#WP_DEFINITION_EDIT_REFUSED'])
    assert.deepEqual([refused.body.file, refused.body.line], ['resources/routes/todo.yml', 1])
    const elsewhere = bodyOf(await patch({ edits: [{ at: '/routes/~1done/methods/GET/timeout', value: '5s' }] }))
    assert.equal(elsewhere.is_served, false)
  })

  test('renaming changes the uses that are listed, all of them as one revision that can be undone', async () => {
    const body = { at: '/schema/Todo', to: 'Task' }
    const uses = [{ at: `${method}/response`, source: 'resources/routes/todo.yml:5' }]
    assert.deepEqual(bodyOf(await world.call('GET /draft/use?at=/schema/Todo')).entry, uses)
    assert.deepEqual(bodyOf(await world.call('GET /draft/use?at=/schema/Unknown')).entry, [])
    assert.equal((await world.call('GET /draft/use?at=/routes/~1todo/methods')).status, 422)
    const { headers } = await world.call(`GET ${valuePath('/schema/Todo')}`)
    assert.equal((await world.call('POST /draft/rename', { ...body, if: '"other"' })).status, 412)
    const done = bodyOf(await world.call('POST /draft/rename', { ...body, if: headers.etag }))
    assert.deepEqual([done.at, done.uses], ['/schema/Task', uses])
    assert.deepEqual(done.saved.files.toSorted(), ['resources/routes/todo.yml', 'waypost.yml'])
    assert.equal(done.saved.is_served, true)
    assert.equal(await world.read('waypost.yml'), files['waypost.yml'].replace('Todo:', 'Task:'))
    const again = await world.call('POST /draft/rename', body)
    assert.deepEqual([again.status, again.body.type], [422, 'urn:waypost:errors#WP_DEFINITION_EDIT_REFUSED'])
    bodyOf(await world.call('PATCH /draft', done.saved.inverse))
    assert.equal(await world.read('waypost.yml'), files['waypost.yml'])
  })

  test('the history says who changed which entries: a user, or another program', async () => {
    bodyOf(await patch({ edits: [{ at: `${method}/timeout`, value: '7s' }] }))
    await world.write('waypost.yml', (await world.read('waypost.yml')).replace('Todo:', 'Todo: # changed\n   '))
    const listed = async () => bodyOf(await world.call('GET /draft')).history
    const text = await world.read('waypost.yml')
    await until('the comment is seen', async () => (await listed())[0].by === null)
    const { name } = world.dev.started.user
    assert.deepEqual(
      (await listed()).slice(0, 2).map(({ at: _, ...change }: { at: string }) => change),
      [
        { by: null, files: ['waypost.yml'], entries: [] },
        { by: name, files: ['resources/routes/todo.yml'], entries: ['/routes/~1todo'] },
      ],
    )
    await world.write('waypost.yml', text.replace('type: integer', 'type: number'))
    await until('the schema is seen', async () => (await listed())[0].entries[0] === '/schema/Todo')
  })

  test('a text is checked without being saved, with the problems that it has when it is saved', async () => {
    const file = 'resources/routes/todo.yml'
    const before = await world.read(file)
    const check = async (text: string) =>
      bodyOf(await world.call('POST /draft/check', { files: [{ file, text }] })).diagnostics
    assert.deepEqual(await check(before), [])
    assert.equal((await check('methods: ['))[0].code, 'WP_DEFINITION_YAML')
    const broken = before.replace('response: Todo', 'response: None')
    const found = await check(broken)
    assert.equal(await world.read(file), before)
    const saved = bodyOf(await world.call(`PUT /draft/file?path=${file}&with_errors=true`, { text: broken }))
    assert.deepEqual(saved.diagnostics, found)
    assert.equal(found.length, 1)
    bodyOf(await world.call('PATCH /draft', saved.inverse))
    assert.equal((await world.call('POST /draft/check', { files: [{ file: '.env', text: 'A=1' }] })).status, 404)
  })

  test('an invalid pointer, and a body with other keys, are refused', async () => {
    assert.equal((await patch({ edits: [{ at: 'routes', value: 1 }] })).status, 400)
    assert.equal((await patch({ edits: [{ at: '/routes', values: 1 }] })).status, 400)
    assert.equal((await patch({ edits: [{ at: `${method}/none` }] })).status, 404)
  })

  test('an edit of nothing writes nothing', async () => {
    const seen = world.reports.length
    const saved = bodyOf(await patch({ edits: [{ at: `${method}/response`, value: 'Todo' }] }))
    assert.deepEqual([saved.changes, saved.files, saved.is_served], [0, [], true])
    assert.equal(world.reports.length, seen)
  })
})
