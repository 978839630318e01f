import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ActionUse, TableSnapshot } from 'waypost'
import type { TableConfig } from '../../src/table/config.ts'
import { describeTable } from '../../src/table/describe.ts'
import type { TablePlan } from '../../src/table/plan.ts'
import { problemsOf } from './describing.ts'

describe('owner rules and references', () => {
  const ticket: TableSnapshot = { columns: { id: { type: 'id' }, user_id: { type: 'uuid' } }, key: ['id'] }
  const reference = { columns: ['ticket_id'], table: 'ticket', to: ['id'] }
  const note: TableSnapshot = {
    columns: { id: { type: 'id' }, ticket_id: { type: 'bigint' }, code: { type: 'text' } },
    key: ['id'],
    unique: [['code'], ['ticket_id', 'code']],
    index: [['ticket_id']],
    references: [reference],
  }
  const Tickets = { table: 'ticket', columns: 'all', owner: 'user_id' } as const
  const notes: TableConfig = { table: 'note', columns: ['id', 'ticket_id'], owner: { through: 'ticket_id' } }
  const of = (
    config: TableConfig,
    {
      method = 'PUT',
      path = '/note/:id',
      actions = { Tickets },
      table = note,
      tables = { ticket, note: table },
      isPublic = false,
    }: Partial<Place> = {},
  ) => {
    const use = {
      method,
      path,
      public: isPublic,
      declared: { responses: {} },
      schemas: {},
      events: {},
      connections: {},
      databases: {},
    }
    const description = describeTable(config, { ...use, actions, methods: {} }, { System: { tables } })
    return { problems: problemsOf(description), plan: description.plan as TablePlan }
  }
  interface Place {
    readonly method: string
    readonly path: string
    readonly actions: ActionUse['actions']
    readonly table: TableSnapshot
    readonly tables: Readonly<Record<string, TableSnapshot>>
    readonly isPublic: boolean
  }

  test('a row belongs to whoever owns the row that it refers to', () => {
    const { problems, plan } = of(notes)
    assert.deepEqual(problems, [])
    const rule = { table: 'ticket', types: { user_id: { type: 'uuid' } }, where: {}, owner: { column: 'user_id' } }
    assert.deepEqual(plan.owner, { column: 'ticket_id', parent: { to: 'id', rule } })
    assert.deepEqual(plan.references, [{ columns: ['ticket_id'], to: ['id'], rule }])
  })

  test('a row that could belong to nobody is an error', () => {
    const nullable = { ...note, columns: { ...note.columns, ticket_id: { type: 'bigint', null: true } } } as const
    const lost = { ...note, references: [{ ...reference, on_delete: 'set null' }] } as const
    const message = '/owner/through Rows could have no owner, because "ticket_id"'
    assert.deepEqual(of(notes, { table: nullable }).problems, [`${message} allows null`])
    assert.deepEqual(of(notes, { table: lost }).problems, [`${message} is "on delete set null"`])
    assert.deepEqual(of({ ...notes, owner: { through: 'code' } }).problems, [
      '/owner/through "code" does not refer to another table',
    ])
    assert.deepEqual(of(notes, { actions: {} }).problems, [
      '/owner/through No action with "owner" serves "ticket", so its rows have no owner',
    ])
  })

  test('up to three references lead to the owner', () => {
    const names = ['note', 'reply', 'mark', 'star']
    const child = (name: string, index: number): [string, TableSnapshot] => {
      const parent = index === 0 ? 'ticket' : names[index - 1]!
      return [name, { ...note, unique: [], references: [{ ...reference, table: parent }] }]
    }
    const tables = { ticket, ...Object.fromEntries(names.map(child)) }
    const actions = { Tickets, ...Object.fromEntries(names.map((name) => [name, { ...notes, table: name }])) }
    const at = (name: string, more = {}) =>
      of({ ...notes, table: name }, { path: `/${name}/:id`, actions: { ...actions, ...more }, tables })
    const { problems, plan } = at('mark')
    assert.deepEqual(problems, [])
    assert.equal(plan.owner!.parent!.rule.owner.parent!.rule.owner.parent!.rule.owner.column, 'user_id')
    const tooFar =
      '/owner/through "through" follows 3 references at most, but finds no owner column starting from "ticket_id" on'
    assert.deepEqual(at('star').problems, [tooFar])
    const all = { Tickets: { ...Tickets, owner: { column: 'user_id', unless: 'all' } } }
    assert.equal(at('mark', all).plan.owner!.unless, 'all')
    // Rows that belong to each other have no owner.
    const cycle = { Tickets: { table: 'ticket', columns: 'all', owner: { through: 'parent_id' } } }
    const own = { columns: { ...ticket.columns, parent_id: { type: 'bigint' } }, key: ['id'] } as const
    const round = { ...own, references: [{ ...reference, columns: ['parent_id'] }] }
    assert.deepEqual(of(notes, { actions: cycle, tables: { ticket: round, note } }).problems, [tooFar])
  })

  test('several rules of one table need a choice; the same rule of several actions does not', () => {
    const AllTickets = { ...Tickets, owner: { column: 'user_id', unless: 'all' } }
    const config: TableConfig = { table: 'note', columns: ['id', 'ticket_id'] }
    const actions = { Tickets, AllTickets }
    assert.deepEqual(of(config, { actions }).problems.slice(0, 1), [
      ' "ticket_id" refers to "ticket", which has several owner rules: those of Tickets, AllTickets',
    ])
    const chosen = of({ ...config, parents: { ticket_id: 'AllTickets' } }, { actions })
    assert.equal(chosen.plan.references![0]!.rule.owner.unless, 'all')
    assert.equal(of(config, { actions: { Tickets, Other: Tickets } }).plan.references!.length, 1)
    assert.deepEqual(of({ ...config, parents: { ticket_id: 'Ticket' } }).problems.slice(0, 1), [
      '/parents/ticket_id "Ticket" is not an action with an "owner" for the table that "ticket_id" refers to',
    ])
  })

  test('"any" allows all rows, and a warning says what that means', () => {
    const { problems, plan } = of({ table: 'note', columns: ['id', 'ticket_id'], parents: { ticket_id: 'any' } })
    assert.equal(plan.references, undefined)
    assert.deepEqual(problems, [
      'warning /parents/ticket_id Callers can refer to rows of "ticket" of other users, prevent them from being deleted, and find out which of them exist',
    ])
  })

  test('a public method cannot refer to rows of users', () => {
    const found = of({ table: 'note', columns: ['id', 'ticket_id'] }, { isPublic: true }).problems
    assert.deepEqual(found, [' PUT /note/:id is public, so its callers own no rows of "ticket"'])
  })

  test('warnings: tables without a rule, and values that are unique among all users', () => {
    assert.deepEqual(of({ table: 'note', columns: ['id'] }, { method: 'GET' }).problems, [
      'warning /table Callers have access to all rows, although "ticket_id" refers to rows of users in "ticket"',
    ])
    assert.deepEqual(of({ table: 'ticket', columns: ['id'] }, { method: 'GET', actions: {} }).problems, [
      'warning /table Callers have access to the rows of all users, although "ticket" has a "user_id"',
    ])
    assert.deepEqual(of({ ...notes, columns: ['id', 'ticket_id', 'code'] }).problems, [
      'warning /owner "code" is unique among the rows of all users, so a 409 reveals that another user has a value',
    ])
  })
})

test('a column that refers to an id, also through other tables, has the type of the id', () => {
  const columns = { id: { type: 'id' }, user_id: { type: 'bigint' }, count: { type: 'bigint', null: true } } as const
  const profile: TableSnapshot = {
    columns: { user_id: { type: 'bigint' }, name: { type: 'text' } },
    key: ['user_id'],
    references: [{ columns: ['user_id'], table: 'user', to: ['id'] }],
  }
  const post: TableSnapshot = {
    columns: { ...columns, reply_to: { type: 'bigint', null: true } },
    key: ['id'],
    index: [['user_id']],
    references: [
      { columns: ['user_id'], table: 'profile', to: ['user_id'] },
      { columns: ['reply_to'], table: 'post', to: ['id'] },
    ],
  }
  const user: TableSnapshot = { columns: { id: { type: 'id' } }, key: ['id'] }
  const known = { System: { tables: { post, profile, user } } }
  const describePost = (method: string, path: string, where?: object) =>
    describeTable(
      { table: 'post', columns: 'all', ...(where && { where }) } as TableConfig,
      {
        method,
        path,
        public: true,
        declared: { responses: {} },
        schemas: {},
        events: {},
        connections: {},
        databases: {},
        actions: {},
        methods: {},
      },
      known,
    )
  const { request, responses } = describePost('POST', '/post')
  const safe = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
  const typesOf = (schema: unknown) => (schema as { properties: Record<string, { type: unknown }> }).properties
  assert.deepEqual(typesOf(request)['user_id'], { type: 'integer', ...safe })
  assert.deepEqual(typesOf(request)['reply_to'], { type: ['integer', 'null'], ...safe })
  assert.deepEqual(typesOf(responses![201])['user_id'], { type: 'integer' })
  assert.deepEqual(typesOf(responses![201])['count']!.type, ['integer', 'string', 'null'])
  const { params, parameters } = describePost('GET', '/user/:user_id/post', { user_id: '$params.user_id' })
  assert.deepEqual(typesOf(params)['user_id'], { type: 'integer', ...safe })
  assert.deepEqual(typesOf(parameters)['id.gt'], { type: 'integer', ...safe })
})
