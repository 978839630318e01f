import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { actionFile, describeSystems, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'
import { chooseKinds } from '../support/forms.ts'

const day = 86_400_000

const routes = [
  'commit', 'rollback', 'caught', 'nested', 'doomed', 'inside', 'parallel', 'two', 'two-fail', 'after-commit', 'outside',
  'dispatch-in', 'dispatch-out', 'dispatch-throw', 'dispatch-respond', 'dispatch-other', 'users', 'destructured', 'none',
] // prettier-ignore

const yml = (otherFile: string) => `
routes:
${routes.map((name) => `  /${name}: { methods: { POST: { public: true, action: src/${name}.ts } } }`).join('\n')}
  /now: { methods: { GET: { public: true, action: src/now.ts } } }
  /signal: { methods: { GET: { public: true, timeout: 10s, action: src/signal.ts } } }
  /late: { methods: { GET: { public: true, timeout: 100ms, action: src/late.ts } } }
  /late-quiet: { methods: { GET: { public: true, timeout: 100ms, action: src/late-quiet.ts } } }
  /dispatching: { methods: { POST: { public: true, dispatch: made, responses: { 201: Made }, action: src/dispatching.ts } } }
  /who: { methods: { GET: { public: true, action: src/who.ts } } }
schema:
  Made: { type: object, properties: { id: { type: integer } } }
connection:
  Other: { class: sqlite, config: { file: '${otherFile}' } }
event:
  made: { description: Made, scopes: [made] }
`

const insert = `const insert = (db: any, name: string) => db.insertInto('app_note').values({ name }).execute()
const names = async (db: any) => (await db.selectFrom('app_note').select('name').orderBy('name').execute()).map((row: any) => row.name)
const open = (context: any) => context.connection('System')
export const state: any = (globalThis as any).waypostTest ??= {}
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
`
const action = (body: string) => actionFile(body, insert)

const files = {
  'waypost.yml': yml('other.db'),
  'migrations/System/1-note.ts': migration(),
  'migrations/Other/1-note.ts': migration(),
  'src/commit.ts': action(`await context.transaction('System', (db) => insert(db, request.body.name)); return {}`),
  'src/rollback.ts': action(
    `await context.transaction('System', async (db) => { await insert(db, 'lost'); throw new Error('no') }); return {}`,
  ),
  'src/caught.ts': action(
    `try { await context.transaction('System', async (db) => { await insert(db, 'lost'); throw new Error('no') }) } catch {}
     await insert(open(context), 'kept'); return { names: await names(open(context)) }`,
  ),
  'src/nested.ts': action(
    `await context.transaction('System', async (outer) => {
       await insert(outer, 'outer')
       const inner = await context.transaction('System', async (inner) => { await insert(inner, 'inner'); return inner })
       if (inner !== outer) throw new Error('another transaction')
     })
     return {}`,
  ),
  'src/doomed.ts': action(
    `await context.transaction('System', async (outer) => {
       await insert(outer, 'outer')
       try { await context.transaction('System', async (inner) => { await insert(inner, 'inner'); throw context.problem(409, 'inner') }) } catch {}
     })
     return {}`,
  ),
  'src/inside.ts': action(
    `const seen = await context.transaction('System', async (db) => {
       await insert(db, 'inside')
       await pause(5)
       const [one, two] = await Promise.all([names(open(context)), pause(1).then(() => names(open(context)))])
       return { one, two, same: open(context) === db }
     })
     return { ...seen, after: await names(open(context)), same: seen.same && open(context) !== undefined }`,
  ),
  'src/parallel.ts': action(
    `const { name } = request.body
     return context.transaction('System', async (db) => {
       await insert(db, name)
       const inside = await names(open(context))
       await pause(20)
       return { inside, later: await names(open(context)) }
     })`,
  ),
  'src/outside.ts': action(`return { names: await names(open(context)) }`),
  'src/two.ts': action(
    `return context.transaction('System', async (system) => {
       await insert(system, 'system')
       await context.transaction('Other', async (other) => {
         await insert(other, 'other')
         if (open(context) !== system || context.connection('Other') !== other) throw new Error('mixed up')
       })
       if (context.connection('Other') === system) throw new Error('mixed up')
       return { other: await names(context.connection('Other')) }
     })`,
  ),
  'src/two-fail.ts': action(
    `await context.transaction('System', async (system) => {
       await insert(system, 'system')
       await context.transaction('Other', async (other) => insert(other, 'other'))
       throw new Error('no')
     })`,
  ),
  'src/after-commit.ts': action(
    `await context.transaction('System', (db) => insert(db, 'committed')); throw context.problem(409, 'too late')`,
  ),
  'src/dispatch-in.ts': action(
    `try { await context.transaction('System', async () => { await context.dispatch('made', { n: 0 }); throw new Error('no') }) } catch {}
     await context.transaction('System', async () => { await context.dispatch('made', { n: 1 }) })
     throw new Error('the transaction stands')`,
  ),
  'src/dispatch-out.ts': action(`await context.dispatch('made', { n: 1 }); return {}`),
  'src/dispatch-throw.ts': action(`await context.dispatch('made', { n: 1 }); throw context.problem(409, 'no')`),
  'src/dispatch-respond.ts': action(
    `await context.dispatch('made', { n: 1 }); return context.respond(request.body.status, {})`,
  ),
  'src/dispatch-other.ts': action(
    `try { await context.transaction('Other', async () => { await context.dispatch('made', { n: 0 }); throw new Error('no') }) } catch {}
     await context.transaction('Other', async () => context.dispatch('made', { n: 1 })); return {}`,
  ),
  'src/users.ts': action(`await context.dispatch('made', { n: 1 }, { users: ['u1'] }); return {}`),
  'src/dispatching.ts': action(`return { id: 7, secret: 'x' }`),
  'src/destructured.ts': action(
    `const { transaction, connection, problem, respond, now, dispatch } = context
     await transaction('System', (db) => insert(db, 'a')); await dispatch('made', {})
     if (!(now() instanceof Date) || problem(404, 'x').message !== 'x') throw new Error('no')
     return respond(200, { names: await names(connection('System')) })`,
  ),
  'src/none.ts': action(`await context.transaction('Nowhere', async () => 1)`),
  'src/now.ts': action('return { now: context.now().toISOString() }'),
  'src/signal.ts': action(
    `state.aborted = new Promise((resolve) => context.signal.addEventListener('abort', () => resolve(true)))
     state.started?.()
     await state.aborted
     return {}`,
  ),
  'src/late.ts': action(
    `await Promise.race([pause(5000), new Promise((resolve) => context.signal.addEventListener('abort', resolve))])
     state.late = context.signal.aborted
     await context.dispatch('made', {})
     throw new Error('nobody hears this')`,
  ),
  'src/late-quiet.ts': action(`await pause(300); state.lateQuiet = context.signal.aborted; return {}`),
  'src/who.ts': action('return { principal: context.principal ?? null }'),
}

function migration(): string {
  return `export default {
    async up(db: any, type: any) {
      await db.schema.createTable('app_note').addColumn('id', type.id, (one: any) => one.primaryKey()).addColumn('name', 'text').execute()
    },
  }\n`
}

const state = ((globalThis as { waypostTest?: Record<string, unknown> }).waypostTest ??= {})

describeSystems('a context', chooseKinds('sqlite'), ({ newSystem }) => {
  let server: ProjectServer
  let now = Date.now()
  before(async () => {
    const clock = { now: () => now, monotonic: () => performance.now() }
    server = await openProjectServer({ files, systemUrl: await newSystem(), clock })
  })
  after(() => server[Symbol.asyncDispose]())

  const post = (path: string, body: object = {}) => send(server.port, { path, body })
  const notes = async () => {
    const names = (await post('/outside')).body.names as string[]
    await server.host.system.db.deleteFrom('app_note' as never).execute()
    return names
  }
  const messages = async () => {
    const { db } = server.host.system
    const rows = await db.selectFrom('waypost_message').select(['event', 'data', 'users']).execute()
    await db.deleteFrom('waypost_message').execute()
    return rows.map(({ data, users }) => `${data}${users ?? ''}`)
  }

  test('commits a transaction when its work is done, and not when it throws', async () => {
    assert.equal((await post('/commit', { name: 'a' })).status, 200)
    assert.deepEqual(await notes(), ['a'])
    assert.equal((await post('/rollback')).status, 500)
    assert.deepEqual(await notes(), [])
    assert.deepEqual((await post('/caught')).body.names, ['kept'])
    await notes()
    assert.equal((await post('/after-commit')).status, 409)
    assert.deepEqual(await notes(), ['committed'])
  })

  test('makes a transaction inside another a part of it', async () => {
    assert.equal((await post('/nested')).status, 200)
    assert.deepEqual(await notes(), ['inner', 'outer'])
    const doomed = await post('/doomed')
    assert.deepEqual([doomed.status, doomed.body.detail], [409, 'inner'])
    assert.deepEqual(await notes(), [])
  })

  test('finds the transaction again after every await and in parallel work', async () => {
    const { body } = await post('/inside')
    assert.deepEqual(body, { one: ['inside'], two: ['inside'], same: true, after: ['inside'] })
    await notes()
  })

  test('isolates the transactions of parallel requests', async () => {
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => post('/parallel', { name })))
    for (const [index, { body }] of answers.entries()) {
      const own = ['a', 'b', 'c', 'd'][index]!
      assert.ok(body.inside.includes(own) && body.later.includes(own), JSON.stringify(body))
    }
    assert.deepEqual(await notes(), ['a', 'b', 'c', 'd'])
    const [, outside] = await Promise.all([post('/parallel', { name: 'a' }), post('/outside')])
    assert.deepEqual(outside.body.names, [])
    await notes()
  })

  test('holds transactions of two connections at once', async () => {
    const { status, body } = await post('/two')
    assert.deepEqual([status, body], [200, { other: ['other'] }])
    assert.deepEqual(await notes(), ['system'])
    assert.equal((await post('/two-fail')).status, 500)
    assert.deepEqual(await notes(), [])
  })

  test('has functions that an action may destructure', async () => {
    assert.deepEqual((await post('/destructured')).body, { names: ['a'] })
    await notes()
    await messages()
  })

  test('logs the name of an unknown connection', async () => {
    assert.equal((await post('/none')).status, 500)
    assert.match(JSON.stringify(server.logs.at(-1)), /Unknown connection \\"Nowhere\\"/)
  })

  for (const [path, status, stored] of [
    ['/dispatch-in', 500, ['{"n":1}']],
    ['/dispatch-out', 200, ['{"n":1}']],
    ['/dispatch-throw', 409, []],
    ['/dispatch-other', 200, ['{"n":1}']],
    ['/users', 200, ['{"n":1}["u1"]']],
    ['/dispatching', 201, ['{"id":7}']],
  ] as const) {
    test(`stores what ${path} dispatched`, async () => {
      assert.equal((await post(path)).status, status)
      assert.deepEqual(await messages(), stored)
    })
  }

  test('discards events if the action responds with 400 or above', async () => {
    for (const [status, count] of [
      [200, 1],
      [302, 1],
      [399, 1],
      [400, 0],
      [503, 0],
    ] as const) {
      assert.equal((await post('/dispatch-respond', { status })).status, status)
      assert.equal((await messages()).length, count, String(status))
    }
  })

  test('has the clock of the server', async () => {
    now += 3 * day
    assert.equal((await send(server.port, { path: '/now' })).body.now, new Date(now).toISOString())
    now -= 3 * day
  })

  test('aborts its signal when the caller disconnects', async () => {
    const started = new Promise<void>((resolve) => (state['started'] = resolve))
    const caller = new AbortController()
    const answer = send(server.port, { path: '/signal', signal: caller.signal })
    await started
    caller.abort()
    await assert.rejects(answer)
    assert.equal(await state['aborted'], true)
  })

  test('aborts its signal at the timeout of the method, when the caller gets a 503', async () => {
    const { status, headers, body } = await send(server.port, { path: '/late' })
    assert.deepEqual([status, headers['retry-after'], body.detail], [503, '1', 'The response took longer than 0.1 s'])
    assert.equal(body.type, 'urn:waypost:errors#WP_RUNTIME_TIMEOUT')
    await until('it is aborted', () => state['late'] === true)
    assert.deepEqual(await messages(), [])
    assert.doesNotMatch(JSON.stringify(server.logs), /nobody hears this/)
  })

  test('has an aborted signal if it is read after the timeout', async () => {
    assert.equal((await send(server.port, { path: '/late-quiet' })).status, 503)
    await until('it has asked', () => state['lateQuiet'] !== undefined)
    assert.equal(state['lateQuiet'], true)
  })

  test('knows the caller, also on a public route, where an invalid token means no caller', async () => {
    assert.equal((await send(server.port, { path: '/who' })).body.principal, null)
    const headers = await server.authorize('ann', ['todo', 'consumer'])
    const { principal } = (await send(server.port, { path: '/who', headers })).body
    assert.deepEqual([principal.user.name, principal.scopes], ['ann', ['todo', 'consumer']])
    const forged = await send(server.port, { path: '/who', headers: { authorization: 'Bearer abc.def.ghi' } })
    assert.deepEqual([forged.status, forged.body.principal], [200, null])
  })
})
