import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import pino from 'pino'
import { executeHostCronjobs, runDueListeners } from '../../src/jobs/index.ts'
import { CallScope } from '../../src/runtime/calls/call-scope.ts'
import { chooseKinds } from '../support/forms.ts'
import { describeSystems, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const yml = `
plugins: [./plugins/caller.ts]
routes:
  /note:
    methods:
      POST:
        scopes: [notes]
        rate: few
        steps: [{ seen: src/seen.ts }]
        request: { type: object, required: [text], properties: { text: { type: string, maxLength: 8 }, at: { type: string } } }
        responses: { 201: { type: object, properties: { id: { type: integer }, text: { type: string }, by: { type: string } } } }
        dispatch: noted
        action: src/add-note.ts
  /note/:id:
    path: { id: { type: integer } }
    methods:
      GET:
        scopes: [notes]
        parameters: { tag: { type: array, maxItems: 3, items: { type: string } } }
        response: { type: object, properties: { id: { type: integer }, tag: { type: array, items: { type: string } } } }
        action: src/get-note.ts
  /file: { methods: { GET: { public: true, response: { content: [text/csv, image/png] }, action: src/file.ts } } }
  /live:
    methods:
      GET: { public: true, response: { content: { text/event-stream: { type: object } } }, action: src/live.ts }
  /slow: { methods: { GET: { public: true, timeout: 50ms, action: src/slow.ts } } }
  /whoami: { methods: { GET: { public: true, response: { type: object, properties: { name: { type: string } } }, action: src/whoami.ts } } }
  /deep: { methods: { GET: { public: true, parameters: { n: { type: integer } }, response: { type: object, properties: { n: { type: integer } } }, action: src/deep.ts } } }
  /ticket:
    methods:
      POST: { scopes: [notes], action: { class: sql-table, config: &ticket { table: app_ticket, columns: [id, title], write: [title], owner: user_id } } }
  /ticket/:id:
    methods:
      GET: { scopes: [notes], action: { class: sql-table, config: *ticket } }
  /run:
    methods:
      POST: { public: true, request: { type: object, additionalProperties: true }, response: { type: object, additionalProperties: true }, action: src/run.ts }
rate: { few: { limit: 2, window: 1h } }
event:
  noted: { schema: { type: object } }
listener:
  hear: { event: noted, action: src/hear.ts }
cronjob:
  sweep: { schedule: '0 0 1 1 *', action: src/sweep.ts }
`

const action = (body: string) => `
const seen = ((globalThis as any).waypostCalls ??= [])
export default class {
  async handle(request: any, context: any): Promise<any> {
    ${body}
  }
}
`

/** Each of these is the body of an action that calls others. */
const works = {
  add: `return await call('POST /note', { body: { text: body.text, at: new Date(0) } })`,
  get: `return await call('GET /note/:id', { params: { id: 7 }, query: { tag: ['a', 'b'] } })`,
  caught: `
    return context.transaction('System', async (db) => {
      await call('POST /note', { body: { text: body.text } })
      const problems = []
      for (const text of [body.text, 'far too long', undefined])
        await call('POST /note', { body: { text } }).catch(({ status }) => problems.push(status))
      await call('POST /note', { body: { text: 'boom' } }).catch(({ message }) => problems.push(message))
      await db.insertInto('app_note').values({ text: body.text + '2' }).execute()
      return { problems }
    })`,
  rolledBack: `
    await context.transaction('System', async () => {
      await call('POST /note', { body: { text: body.text } })
      throw context.problem(418, 'not today')
    })`,
  parallel: `
    return context.transaction('System', async () => {
      const all = await Promise.allSettled(body.texts.map((text) => call('POST /note', { body: { text } })))
      return { all: all.map(({ status }) => status) }
    })`,
  nestedFailure: `
    return context.transaction('System', async () => {
      const first = await call('POST /run', { body: { do: 'swallow', text: body.text } }).catch(() => 'failed')
      return { first }
    })`,
  swallow: `
    await context.transaction('System', async (db) => {
      await db.insertInto('app_note').values({ text: body.text }).execute()
      throw new Error('inside')
    }).catch(() => undefined)
    return { ok: true }`,
  forgotten: `
    return context.transaction('System', async (db) => {
      await db.insertInto('app_note').values({ text: body.text }).execute()
      void call('POST /note', { body: { text: body.text + '2' } })
      if (body.isThrown) throw context.problem(418, 'not today')
      return {}
    }).catch(({ code, status }) => ({ code, status }))`,
  late: `
    const { promise, resolve } = Promise.withResolvers()
    await context.transaction('System', async () => void setTimeout(() => resolve(call('GET /whoami')), 1))
    return await promise.catch(({ code }) => ({ code }))`,
  uncaught: `return await call('POST /note', { body: { text: 'far too long' } })`,
  file: `const file = await call('GET /file'); return { text: await file.text(), type: file.type }`,
  live: `await call('GET /live').catch(({ code }) => { throw context.problem(418, code) })`,
  slow: `return await call('GET /slow').catch(({ status, code }) => ({ status, code }))`,
  deep: `return await call('GET /deep', { query: { n: 1 } }).catch(({ code }) => ({ code }))`,
  unknown: `return await call('GET /nte/:id').catch(({ code, hint }) => ({ code, hint }))`,
  whoami: `return await call('GET /whoami', body.as === undefined ? {} : { as: body.as }).catch(({ code }) => ({ code }))`,
  tell: `await context.dispatch('noted', { user: body.id }); return {}`,
  ticket: `return await call('GET /ticket/:id', { params: { id: body.id } })`,
}

const files = {
  'waypost.yml': yml,
  'plugins/caller.ts': `import { definePlugin } from 'waypost'
export default definePlugin({
  name: 'caller',
  routes(app, host) {
    app.get('/by-plugin', { config: { public: true } }, async () =>
      host.call('GET /live', {}).catch(({ code }) => ({ body: code })))
  },
})
`,
  'src/seen.ts': action(`seen.push(['step', request.method, request.url, context.principal?.user.name].join(' '))`),
  'src/add-note.ts': action(`
    if (request.body.text === 'boom') throw new Error('a bug')
    const { id } = await context.transaction('System', (db) =>
      db.insertInto('app_note').values({ text: request.body.text }).returning('id').executeTakeFirstOrThrow())
    return { id: Number(id), text: request.body.text + (request.body.at ?? ''), by: context.principal.user.name }`),
  'src/get-note.ts': action(`return { id: request.params.id, ...request.query, more: 'not declared' }`),
  'src/file.ts': action(`return new Blob(['a;b'], { type: 'text/csv' })`),
  'src/live.ts': action(`return (async function* () { for (;;) yield {} })()`),
  'src/slow.ts': action(`
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve))
    seen.push('slow ended')
    return {}`),
  'src/whoami.ts': action(`return { name: context.principal?.user.name ?? 'nobody' }`),
  'src/deep.ts': action(`return context.call('GET /deep', { query: { n: request.query.n + 1 } })`),
  'src/run.ts': action(`
    const { body } = request
    const { call } = context
    switch (body.do) {
      ${Object.entries(works)
        .map(([name, work]) => `case '${name}': { ${work} }`)
        .join('\n')}
    }`),
  'src/hear.ts': action(`
    if (request.body.user === undefined) return
    const mine = await context.call('GET /whoami', { as: request.body.user })
    seen.push('heard by ' + mine.name)
    await context.call('GET /whoami').catch(({ code }) => seen.push(code))`),
  'src/sweep.ts': action(`
    const { id } = await context.connection('System').selectFrom('app_user').select('id').executeTakeFirstOrThrow()
    const note = await context.call('POST /note', { as: id, body: { text: 'swept' } })
    seen.push('swept by ' + note.by)
    await context.call('GET /note/:id', { as: '00000000-0000-4000-8000-00000000dead', params: { id: 1 } }).catch(({ code }) => seen.push(code))`),
  'migrations/System/20260101-note.yml': `create_table:
  app_note: { columns: { id: id, text: text(20) }, unique: [[text]] }
  app_ticket: { columns: { id: id, user_id: uuid, title: text(20) }, index: [[user_id, id]] }
  app_user: { columns: { id: uuid }, key: [id] }
`,
}

test('a stream of a call is closed when the work around it has ended, also before the call', async () => {
  for (const isEarly of [true, false]) {
    const controller = new AbortController()
    if (isEarly) controller.abort()
    const parent = { principal: undefined, log: pino({ enabled: false }), signal: controller.signal }
    const options = { request: {} as never, accepts: 'text/csv', timeoutMs: undefined }
    const { closeLater } = new CallScope({ input: {}, principal: undefined, parent, depth: 1 }, options)
    const stream = new Readable({ read() {} })
    closeLater!(stream)
    controller.abort()
    if (!stream.closed) await once(stream, 'close')
    assert.ok(stream.destroyed)
  }
})

describeSystems('context.call', chooseKinds('postgresql'), ({ newSystem }) => {
  let server: ProjectServer
  let ann: { authorization: string }
  const seen: string[] = ((globalThis as { waypostCalls?: string[] }).waypostCalls ??= [])
  before(async () => {
    server = await openProjectServer({ files, systemUrl: await newSystem() })
    ann = await server.authorize('ann', ['notes'])
  })
  after(() => server[Symbol.asyncDispose]())
  const run = async (body: object, headers: object = ann) => {
    seen.length = 0
    const answer = await send(server.port, {
      method: 'POST',
      path: '/run',
      body,
      headers: { ...headers },
      undescribed: 'problems of other methods',
    })
    return answer
  }
  const select = async (table: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    server.host.system.db
      .selectFrom(table as never)
      .selectAll()
      .execute()
  const texts = async () => (await select('app_note')).map(({ text }) => text as string)
  const findAnn = async () => (await select('waypost_user')).find(({ name }) => name === 'ann')!['id'] as string
  const countMessages = async () => (await select('waypost_message')).length

  test('runs a method as the caller: its steps, checks, action, event and response, without its rate', async () => {
    const before = await countMessages()
    const { body } = await run({ do: 'add', text: 'one' })
    assert.equal(body.by, 'ann')
    assert.equal(body.text, 'one1970-01-01T00:00:00.000Z')
    assert.deepEqual(seen, ['step POST /note ann'])
    assert.equal(await countMessages(), before + 1)
    assert.deepEqual((await run({ do: 'get' })).body, { id: 7, tag: ['a', 'b'] })
    for (const text of ['two', 'three', 'four']) assert.equal((await run({ do: 'add', text })).status, 200)
  })

  test('needs the scopes of the method, and its problems are those of its caller', async () => {
    const none = await run({ do: 'add', text: 'no' }, {})
    assert.equal(none.status, 401)
    assert.match(String(none.headers['www-authenticate']), /^Bearer/)
    const other = await run({ do: 'add', text: 'no' }, await server.authorize('other', ['else']))
    assert.equal(other.status, 403)
    const invalid = await run({ do: 'uncaught' })
    assert.equal(invalid.status, 400)
    assert.equal(invalid.body.errors[0].path, 'body/text')
  })

  test('what fails in a transaction is rolled back alone; the transaction continues and commits', async () => {
    const before = await countMessages()
    const { status, body } = await run({ do: 'caught', text: 'c' })
    assert.equal(status, 200)
    assert.deepEqual(body.problems, [409, 400, 400, 'a bug'])
    assert.deepEqual(
      (await texts()).filter((text) => text.startsWith('c')),
      ['c', 'c2'],
    )
    assert.equal(await countMessages(), before + 1)
  })

  test('events and rows belong to the transaction around the call', async () => {
    const before = await countMessages()
    assert.equal((await run({ do: 'rolledBack', text: 'gone' })).status, 418)
    assert.ok(!(await texts()).includes('gone'))
    assert.equal(await countMessages(), before)
  })

  test('calls of one transaction wait for each other', async () => {
    const { body } = await run({ do: 'parallel', texts: ['p1', 'p2', 'p1', 'p3'] })
    assert.deepEqual(body.all, ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    assert.deepEqual((await texts()).filter((text) => text.startsWith('p')).toSorted(), ['p1', 'p2', 'p3'])
  })

  test('a call that a transaction does not await fails it, after the call has ended', async () => {
    const code = 'WP_RUNTIME_CALL_NOT_AWAITED'
    assert.deepEqual((await run({ do: 'forgotten', text: 'z' })).body, { code, status: 500 })
    assert.deepEqual((await run({ do: 'forgotten', text: 'z', isThrown: true })).body, { status: 418 })
    assert.deepEqual(
      (await texts()).filter((text) => text.startsWith('z')),
      [],
    )
    assert.deepEqual((await run({ do: 'late' })).body, { code })
    assert.equal((await run({ do: 'add', text: 'after' })).status, 200)
  })

  test('a nested transaction that failed fails the call, not what is around it', async () => {
    assert.deepEqual((await run({ do: 'nestedFailure', text: 'n' })).body, { first: 'failed' })
    assert.ok(!(await texts()).includes('n'))
  })

  test('returns files and texts, and refuses streams that may not end, unknown methods and endless loops', async () => {
    assert.deepEqual((await run({ do: 'file' })).body, { text: 'a;b', type: 'text/csv' })
    assert.equal((await run({ do: 'live' })).body.detail, 'WP_RUNTIME_CALL_STREAM')
    const byPlugin = await send(server.port, { path: '/by-plugin' })
    assert.equal(byPlugin.body.body, 'WP_RUNTIME_CALL_STREAM', 'host.call of a plugin does not wait for its end')
    assert.deepEqual((await run({ do: 'unknown' })).body, {
      code: 'WP_RUNTIME_CALL_UNKNOWN',
      hint: 'Did you mean "GET /note/:id"?',
    })
    assert.deepEqual((await run({ do: 'deep' })).body, { code: 'WP_RUNTIME_CALL_DEPTH' })
  })

  test('the time limit of the method ends it; what it still does is done before the caller continues', async () => {
    assert.deepEqual((await run({ do: 'slow' })).body, { status: 503, code: 'WP_RUNTIME_TIMEOUT' })
    assert.deepEqual(seen, ['slow ended'])
  })

  test('runs as a user only where no caller is known', async () => {
    const id = await findAnn()
    assert.deepEqual((await run({ do: 'whoami' }, {})).body, { name: 'nobody' })
    assert.deepEqual((await run({ do: 'whoami', as: id }, {})).body, { name: 'ann' })
    assert.deepEqual((await run({ do: 'whoami', as: id })).body, { code: 'WP_RUNTIME_CALL_CALLER' })
    assert.deepEqual((await run({ do: 'whoami', as: 'ann' }, {})).body, { code: 'WP_RUNTIME_CALL_USER_UNKNOWN' })
  })

  test('obeys the owner rule of sql-table', async () => {
    const bob = await server.authorize('bob', ['notes'])
    const sent = { method: 'POST', path: '/ticket', body: { title: 'mine' }, headers: ann }
    const { id } = (await send(server.port, sent)).body
    assert.equal((await run({ do: 'ticket', id })).body.title, 'mine')
    assert.equal((await run({ do: 'ticket', id }, bob)).status, 404)
  })

  test('cronjobs and listeners call methods as a user', async () => {
    const id = await findAnn()
    const { db } = server.host.system
    await db
      .insertInto('app_user' as never)
      .values({ id })
      .execute()
    const logger = pino({ level: 'silent' })
    seen.length = 0
    await executeHostCronjobs(server.host, { name: 'sweep', logger })
    assert.deepEqual(seen, ['step POST /note ann', 'swept by ann', 'WP_RUNTIME_CALL_USER_UNKNOWN'])
    await run({ do: 'tell', id })
    const failed: unknown[] = []
    await runDueListeners(server.host, {
      listener: 'hear',
      logger,
      onRun: ({ reason }) => void (reason !== undefined && failed.push(reason)),
    })
    assert.deepEqual(failed, [])
    assert.deepEqual(seen, ['heard by ann', 'WP_RUNTIME_CALL_USER'])
  })
})
