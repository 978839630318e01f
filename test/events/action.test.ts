import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createTestApp, type TestApp } from '../../src/testing/index.ts'

const actions: Readonly<Record<string, string>> = {
  returns: `await context.dispatch('noted', { from: 'returns' }); return { ok: true }`,
  refuses: `await context.dispatch('noted', { from: 'refuses' }); return context.respond(409, { ok: false })`,
  problem: `await context.dispatch('noted', { from: 'problem' }); throw context.problem(404, 'not here')`,
  throws: `await context.dispatch('noted', { from: 'throws' }); throw new Error('no')`,
  'rolls-back': `await context.transaction('System', async () => {
      await context.dispatch('noted', { from: 'rolls-back' })
      throw new Error('no')
    }).catch(() => undefined)
    return { ok: true }`,
  commits: `await context.transaction('System', () => context.dispatch('noted', { from: 'commits' })); throw new Error('no')`,
  unknown: `await context.dispatch('notde', {}); return { ok: true }`,
  unwritable: `await context.dispatch('noted', 1n); return { ok: true }`,
  'forgets-to-await': `context.dispatch('noted', { from: 'forgets-to-await' }); return { ok: true }`,
  'forgets-in-transaction': `return context.transaction('System', async () => {
      context.dispatch('noted', { from: 'forgets-in-transaction' })
      return { ok: true }
    })`,
  'forgets-unknown': `context.dispatch('notde', {}); return { ok: true }`,
  'forgets-unknown-in-transaction': `return context.transaction('System', async () => {
      await context.dispatch('noted', { from: 'forgets-unknown-in-transaction' })
      context.dispatch('notde', {})
      return { ok: true }
    })`,
  misfit: `await context.dispatch('noted', { from: 7 }); return { ok: true }`,
  'misfit-in-transaction': `return context.transaction('System', async () => {
      await context.dispatch('noted', { from: 'misfit-in-transaction' })
      await context.dispatch('noted', { from: 7 })
      return { ok: true }
    })`,
  'misfit-of-what-is-read': `
    await context.dispatch('noted', { from: { toJSON: () => 'misfit-of-what-is-read' }, ok: undefined })
    return { ok: true }`,
  'misfit-named': `
    const found = await context.dispatch('strict', { title: 1, more: 2 }).catch((error) => error)
    return context.respond(409, { ok: false, from: [found.code, found.message].join(': ') })`,
  undeclared: `await context.dispatch('noted', { from: 'undeclared', more: 1 }); return { ok: true, more: 1 }`,
  result: `return { ok: true, from: 'result' }`,
  delays: `await context.dispatch('noted', { from: 'delays' }, { delay: '1h', key: 'one' }); return { ok: true }`,
  cancels: `await context.cancel('noted', 'one'); return { ok: true }`,
  'result-undeclared': `return { ok: true, from: 'result-undeclared', more: 1 }`,
  'result-refused': `return context.respond(409, { ok: false })`,
}

describe('an action that dispatches', () => {
  let folder: string
  let app: TestApp
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-dispatch-'))
    await mkdir(path.join(folder, 'src'))
    await writeFile(path.join(folder, 'waypost.yml'), definition())
    for (const [name, code] of Object.entries(actions)) {
      const text = `export default class { async handle(_request, context) { ${code} } }\n`
      await writeFile(path.join(folder, `src/${name}.js`), text)
    }
    app = await createTestApp({ folder })
  })
  after(async () => {
    await app.close()
    await rm(folder, { recursive: true })
  })

  const cases: readonly { name: string; status: number; delivers: boolean }[] = [
    { name: 'returns', status: 200, delivers: true },
    { name: 'refuses', status: 409, delivers: false },
    { name: 'problem', status: 404, delivers: false },
    { name: 'throws', status: 500, delivers: false },
    { name: 'rolls-back', status: 200, delivers: false },
    { name: 'commits', status: 500, delivers: true },
    { name: 'unknown', status: 500, delivers: false },
    { name: 'unwritable', status: 500, delivers: false },
    { name: 'forgets-to-await', status: 200, delivers: true },
    { name: 'forgets-in-transaction', status: 200, delivers: true },
    { name: 'forgets-unknown', status: 500, delivers: false },
    { name: 'forgets-unknown-in-transaction', status: 500, delivers: false },
    { name: 'misfit', status: 500, delivers: false },
    { name: 'misfit-in-transaction', status: 500, delivers: false },
    { name: 'misfit-of-what-is-read', status: 200, delivers: true },
    { name: 'result', status: 200, delivers: true },
    { name: 'result-refused', status: 409, delivers: false },
  ]
  for (const { name, status, delivers } of cases) {
    test(`and then ${name} returns ${status}, and ${delivers ? 'the' : 'no'} event is delivered`, async () => {
      const before = app.events.delivered('noted').length
      const answer = await app.inject(`GET /${name}`)
      assert.equal(answer.status, status)
      const delivered = app.events.delivered('noted').slice(before) as { from: string }[]
      assert.deepEqual(
        delivered.map((event) => event.from),
        delivers ? [name] : [],
      )
    })
  }

  test('dispatched data is delivered with undeclared fields, the result of a method without them', async () => {
    const before = app.events.delivered('noted').length
    const answers = [await app.inject('GET /undeclared'), await app.inject('GET /result-undeclared')]
    assert.deepEqual(
      answers.map(({ body }) => body),
      [{ ok: true }, { ok: true, from: 'result-undeclared' }],
    )
    assert.deepEqual(app.events.delivered('noted').slice(before), [
      { from: 'undeclared', more: 1 },
      { ok: true, from: 'result-undeclared' },
    ])
  })

  test('a delayed event is delivered when the clock of the app has moved, unless it was cancelled', async () => {
    const before = app.events.delivered('noted').length
    for (const name of ['delays', 'cancels', 'delays']) assert.equal((await app.inject(`GET /${name}`)).status, 200)
    app.clock.forward('59m')
    await app.events.deliver()
    assert.equal(app.events.delivered('noted').length, before)
    app.clock.forward('1m')
    await app.events.deliver()
    assert.deepEqual(app.events.delivered('noted').slice(before), [{ from: 'delays' }])
  })

  test('data that does not match the schema of its event throws inside the action: event, path and message', async () => {
    const answer = await app.inject('GET /misfit-named')
    assert.equal(
      (answer.body as { from: string }).from,
      'WP_EVENTS_SCHEMA: The data dispatched with the event "strict" does not match its schema: ' +
        'data/more is unknown; data/title must be string',
    )
    assert.deepEqual(app.events.delivered('strict'), [])
  })
})

function definition(): string {
  const routes = Object.keys(actions).map((name) => {
    const dispatch = name.startsWith('result') ? ', dispatch: noted' : ''
    const responses = '{ 200: Answer, 409: Answer }'
    return `  /${name}:\n    methods:\n      GET: { public: true, responses: ${responses}, action: src/${name}.js${dispatch} }`
  })
  return `routes:\n${routes.join('\n')}
schema:
  Answer: { type: object, properties: { ok: { type: boolean }, from: { type: string } } }
  Strict: { type: object, properties: { title: { $ref: 'schema:///Title' } }, additionalProperties: false }
  Title: { type: string }
event:
  noted: { description: Something was noted, schema: Answer }
  strict: { description: Something strict, schema: Strict }
`
}
