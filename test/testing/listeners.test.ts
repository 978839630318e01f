import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createTestApp, type TestApp } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'

const definition = `
routes:
  /pay:
    methods:
      POST: { public: true, request: { type: object }, action: src/pay.js }
event:
  order_paid: { private: true, schema: { type: object, required: [n], properties: { n: { type: integer } } } }
  billed: { scopes: [] }
listener:
  bill: { event: order_paid, action: src/bill.js, retries: [1m], once: true }
  mail: { event: order_paid, action: src/mail.js }
`

/** Fails on its first run if the data say so, after it has changed something. */
const bill = `export default class {
  async handle({ body, message, params }, context) {
    const db = context.connection('System')
    await db.insertInto('app_bill').values({ n: body.n, listener: params.listener }).execute()
    await context.dispatch('billed', { n: body.n })
    if (body.fails && message.attempt === 1) throw new Error('not yet')
    if (body.discards) throw context.discard('no bill')
    if (!body.slow) return
    await new Promise((resolve) => setTimeout(resolve, 2500))
    const late = [db.insertInto('app_bill').values({ n: 0, listener: 'late' }).execute(), context.dispatch('billed', { n: 0 }),
      context.dispatch('billed', { n: 0 }, { delay: '1s' })]
    globalThis.late = await Promise.allSettled(late)
  }
}`

const migration = `create_table:
  app_bill:
    columns: { id: { type: id }, n: { type: integer }, listener: { type: text } }
`

describe('listeners in tests', () => {
  let folder: string
  let app: TestApp
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-app-listeners-'))
    const files = {
      'waypost.yml': definition,
      'src/bill.js': bill,
      'src/mail.js': `export default class { handle({ body, message }, { log }) { log.info(body, message.id) } }`,
      'src/pay.js': `export default class {
        async handle({ body }, context) {
          await context.transaction('System', () => context.dispatch('order_paid', body, body.later ? { delay: '1h' } : {}))
        }
      }`,
      'migrations/System/0001-bills.yml': migration,
    }
    for (const [name, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
      await writeFile(path.join(folder, name), text)
    }
    app = await createTestApp({ folder })
  })
  after(async () => {
    await app.close()
    await rm(folder, { recursive: true })
  })

  const pay = async (body: object) => assert.equal((await app.inject('POST /pay', { body })).status, 204)
  const outcomes = async (name: string) => (await app.run(name)).map(({ outcome, attempt }) => [outcome, attempt])

  test('what is due runs once, each listener by itself, and what it dispatched is delivered', async () => {
    await pay({ n: 1 })
    assert.deepEqual(await outcomes('bill'), [['done', 1]])
    assert.deepEqual(await outcomes('bill'), [])
    assert.deepEqual(await outcomes('mail'), [['done', 1]])
    assert.deepEqual(app.events.delivered('billed'), [{ n: 1 }])
    assert.deepEqual(app.events.delivered('order_paid'), [], 'a private event is for listeners only')
  })

  test('with "once", what a failed run changed and dispatched is rolled back', async () => {
    const before = app.events.delivered('billed').length
    await pay({ n: 2, fails: true })
    assert.deepEqual(await outcomes('bill'), [['retrying', 1]])
    assert.deepEqual(await outcomes('bill'), [])
    app.clock.forward('80s')
    assert.deepEqual(await outcomes('bill'), [['done', 2]])
    assert.deepEqual(app.events.delivered('billed').slice(before), [{ n: 2 }])
  })

  test('a run can be discarded', async () => {
    await pay({ n: 3, discards: true })
    const [run] = await app.run('bill')
    assert.deepEqual([run?.outcome, run?.reason], ['discarded', 'no bill'])
  })

  test('with "once" on SQLite, a run that takes longer than two seconds fails', async () => {
    await pay({ n: 4, slow: true })
    const [run] = await app.run('bill')
    assert.equal(run?.outcome, 'retrying')
    assert.match(run?.reason ?? '', /"once" took longer than 2 s/)
    await until('the action has ended', () => 'late' in globalThis)
    const { late } = globalThis as unknown as { late: readonly PromiseSettledResult<unknown>[] }
    assert.deepEqual(
      late.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    )
    app.clock.forward('1s')
    await app.events.deliver()
    assert.ok(
      app.events.delivered('billed').every((data) => (data as { n: number }).n !== 0),
      'what it does later belongs to no transaction',
    )
  })

  test('a delayed event runs its listeners when it is due', async () => {
    await app.run('mail')
    await pay({ n: 5, later: true })
    assert.deepEqual(await outcomes('mail'), [])
    app.clock.forward('1h')
    assert.deepEqual(await outcomes('mail'), [['done', 1]])
    assert.equal(app.listeners.at(-1)?.listener, 'mail')
  })

  test('an unknown listener is an error that names the others', async () => {
    await assert.rejects(app.run('bil'), { code: 'WP_SERVER_LISTENER_UNKNOWN', hint: /bill, mail/ })
  })
})
