import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, users, type Call, type TableApi } from '../../../../test/support/table-api.ts'
import { openTicketOptions } from './owner-tables.ts'

const { ann, bob } = users
const all = { scopes: ['ticket.all'] }
const missing = 1_000_000

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`references to rows of other users, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      api = await openTableApi(openTicketOptions(kind, await postgres?.createDatabase()))
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })
    const add = async (where: string, user: string, body: object): Promise<number> => {
      const result = await api.call(`POST ${where}`, { user, body })
      assert.equal(result.status, 201, JSON.stringify([where, body, result.body]))
      return result.body.id
    }
    const ticket = (user: string) => add('/ticket', user, { title: 'Help' })
    const statusOf = async (operation: string, call: Call = {}) => (await api.call(operation, call)).status
    let names = 0
    const name = () => `t${(names += 1)}`

    test('cannot be inserted: the answer is that of a missing row, whatever else is wrong', async () => {
      const [own, foreign] = [await ticket(ann), await ticket(bob)]
      const taken = name()
      await add('/task', ann, { name: taken, ticket_id: own })
      for (const one of [name(), taken]) {
        const post = (ticket_id: number, more = {}) =>
          api.call('POST /task', { user: ann, body: { name: one, ticket_id, ...more } })
        const found = await post(foreign)
        assert.equal(found.status, 409)
        assert.deepEqual(found.body.errors, [
          { path: 'body/ticket_id', message: 'refers to something that does not exist' },
        ])
        assert.deepEqual(found, await post(missing))
        const others = await post(own, { shelf_id: missing })
        if (one !== taken) assert.equal(others.body.detail, found.body.detail, 'as the database answers')
      }
      await add('/task', ann, { name: name(), ticket_id: null })
      await add('/task', ann, { name: name() })
    })

    test('keep the row that they refer to from being deleted, which the answer says', async () => {
      const own = await ticket(ann)
      await add('/task', ann, { name: name(), ticket_id: own })
      const { status, body } = await api.call(`DELETE /ticket/${own}`, { user: ann })
      assert.deepEqual([status, body.errors], [409, [{ path: 'path/id', message: 'is still referred to' }]])
    })

    test('cannot be made by a change', async () => {
      const [own, foreign] = [await ticket(ann), await ticket(bob)]
      const id = await add('/task', ann, { name: name(), ticket_id: own })
      const patch = (body: object, headers = {}) => api.call(`PATCH /task/${id}`, { user: ann, body, headers })
      const found = await patch({ ticket_id: foreign })
      assert.equal(found.status, 409)
      assert.deepEqual(
        found.body.errors.map((one: { path: string }) => one.path),
        ['body/ticket_id'],
      )
      assert.deepEqual(found, await patch({ ticket_id: missing }))
      assert.equal((await patch({ ticket_id: foreign }, { 'if-match': '"9"' })).status, 412)
      const full = { name: name(), ticket_id: foreign, note_id: null, shelf_id: null }
      assert.equal(await statusOf(`PUT /task/${id}`, { user: ann, body: full }), 409)
      assert.equal(await statusOf(`PUT /task/${id}`, { user: ann, body: { ...full, ticket_id: own } }), 200)
      assert.equal((await patch({ ticket_id: null })).status, 200)
      assert.equal(await statusOf(`PATCH /task/${id}`, { user: bob, body: { ticket_id: foreign } }), 404)
      const [row] = await api.execute(`select ticket_id from app_task where id = ${id}`)
      assert.deepEqual(row, { ticket_id: null })
    })

    test('of several, the first one is named', async () => {
      const [own, foreign] = [await ticket(ann), await ticket(bob)]
      const note = await add('/note', bob, { ticket_id: foreign, text: 'x' })
      const post = async (body: object) =>
        (await api.call('POST /task', { user: ann, body: { name: name(), ...body } })).body.errors
      const message = 'refers to something that does not exist'
      assert.deepEqual(await post({ ticket_id: own, note_id: note }), [{ path: 'body/note_id', message }])
      assert.deepEqual(await post({ ticket_id: own, note_id: missing }), [{ path: 'body/note_id', message }])
      assert.deepEqual(await post({ ticket_id: foreign, note_id: note }), [{ path: 'body/ticket_id', message }])
    })

    test('are allowed with the scope that gives access to the rows, which must still exist for the API', async () => {
      const foreign = await ticket(bob)
      const deleted = await ticket(bob)
      await api.execute(`update app_ticket set status = 0 where id = ${deleted}`)
      const post = (ticket_id: number) => statusOf('POST /task', { body: { name: name(), ticket_id }, ...all })
      assert.equal(await post(foreign), 201)
      assert.equal(await post(deleted), 409)
    })

    test('do not keep their owner from deleting them', async () => {
      const own = await ticket(bob)
      assert.equal(await statusOf('POST /task', { user: ann, body: { name: name(), ticket_id: own } }), 409)
      assert.equal(await statusOf(`DELETE /ticket/${own}`, { user: bob }), 204)
    })

    test('rows that belong to the owner of another row exist only for that user', async () => {
      const [own, foreign] = [await ticket(ann), await ticket(bob)]
      const note = await add('/note', ann, { ticket_id: own, text: 'mine' })
      const other = await add('/note', bob, { ticket_id: foreign, text: 'theirs' })
      const ids = async (call: Call) => {
        const { body } = await api.call('GET /note', { ...call, query: { count: true, limit: 100 } })
        assert.equal(body.count, body.entry.length)
        return new Set(body.entry.map(({ id }: { id: number }) => id))
      }
      assert.deepEqual([(await ids({ user: ann })).has(note), (await ids({ user: ann })).has(other)], [true, false])
      assert.deepEqual([(await ids({ user: bob })).has(note), (await ids({ user: bob })).has(other)], [false, true])
      const everything = await ids(all)
      assert.deepEqual([everything.has(note), everything.has(other)], [true, true])
      const put = { ticket_id: own, text: 'x' }
      for (const [operation, body] of [
        [`GET /note/${other}`],
        [`PATCH /note/${other}`, { text: 'x' }],
        [`PATCH /note/${other}`, { ticket_id: own }],
        [`PUT /note/${other}`, put],
        [`DELETE /note/${other}`],
      ] as const) {
        assert.equal(await statusOf(operation, { user: ann, ...(body && { body }) }), 404, operation)
        const stale = { headers: { 'if-match': '"9"' } }
        assert.equal(await statusOf(operation, { user: ann, ...(body && { body }), ...stale }), 404, operation)
      }
      assert.equal(await statusOf(`PATCH /note/${note}`, { user: ann, body: { ticket_id: foreign } }), 409)
      assert.equal(await statusOf('POST /note', { user: ann, body: { ticket_id: foreign, text: 'x' } }), 409)
      const moved = await ticket(ann)
      assert.equal(await statusOf(`PATCH /note/${note}`, { user: ann, body: { ticket_id: moved } }), 200)
      await api.execute(`update app_ticket set status = 0 where id = ${moved}`)
      assert.equal(await statusOf(`GET /note/${note}`, { user: ann }), 404, 'deleted with the row that it belongs to')
    })

    test('a path below the row of another user does not exist, nor do its lists', async () => {
      const [own, foreign] = [await ticket(ann), await ticket(bob)]
      const note = await add(`/ticket/${foreign}/note`, bob, { text: 'theirs' })
      for (const id of [foreign, missing]) {
        const found = [
          await api.call(`GET /ticket/${id}/note`, { user: ann }),
          await api.call(`GET /ticket/${id}/note`, { user: ann, query: { count: true, id: note } }),
          await api.call(`POST /ticket/${id}/note`, { user: ann, body: { text: 'x' } }),
          await api.call(`GET /ticket/${id}/note/${note}`, { user: ann }),
          await api.call(`PATCH /ticket/${id}/note/${note}`, { user: ann, body: { text: 'x' } }),
          await api.call(`DELETE /ticket/${id}/note/${note}`, { user: ann }),
        ]
        for (const one of found) assert.deepEqual([one.status, one.body], [404, { detail: 'Not found' }])
      }
      assert.deepEqual((await api.call(`GET /ticket/${own}/note`, { user: ann })).body, { entry: [], next: null })
      assert.equal(await statusOf(`GET /ticket/${foreign}/note`, all), 200)
      assert.equal(await statusOf(`GET /ticket/${missing}/note`, all), 404)
      assert.equal(await statusOf(`PATCH /ticket/${foreign}/note/${note}`, { user: bob, body: { text: 'y' } }), 200)
      assert.equal(await statusOf(`GET /ticket/${own}/note/${note}`, { user: ann }), 404)
    })

    test('a reference that another program made to a row of another user shows nothing of it', async () => {
      const [own, foreign] = [await ticket(ann), await ticket(bob)]
      await api.execute(`update app_ticket set title = 'secret' where id = ${foreign}`)
      const task = await add('/task', ann, { name: name() })
      await api.execute(`update app_task set ticket_id = ${foreign} where id = ${task}`)
      await add('/task', bob, { name: name(), ticket_id: foreign })
      const theirs = await add('/task', bob, { name: name() })
      await api.execute(`update app_task set ticket_id = ${own} where id = ${theirs}`)
      const read = async (operation: string, query: string, call: Call = { user: ann }) =>
        (await api.call(operation, { ...call, query })).body
      assert.equal((await read(`GET /task/${task}`, 'embed=ticket')).ticket, null)
      assert.deepEqual((await read(`GET /ticket/${own}`, 'embed=tasks')).tasks, { entry: [], more: false })
      for (const query of [
        'ticket.title=secret',
        'any=(ticket.title:secret)',
        `any=(ticket.title:secret,id:0)&id=${task}`,
      ])
        assert.deepEqual(await read('GET /task', `${query}&count=true`), { entry: [], next: null, count: 0 }, query)
      await api.execute(`update app_task set user_id = '${ann}' where id = ${theirs}`)
      const { tasks } = await read(`GET /ticket/${own}`, 'embed=tasks', { ...all, user: ann })
      assert.equal(tasks.entry.length, 1)
      assert.equal((await read(`GET /task/${task}`, 'embed=ticket', { ...all, user: ann })).ticket.title, 'secret')
    })
  })
}
