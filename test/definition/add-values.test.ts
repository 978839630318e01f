import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addValues, openEditing } from '../../src/definition/index.ts'
import { loadClasses, makeProject } from './project.ts'

const text = `action:
  Ticket: { class: sql-table, config: { table: app_ticket, columns: all } }
routes:
  /ticket:
    methods:
      POST: { action: Ticket, request: NewTicket, response: { properties: { state: { enum: [new, done] } } }, dispatch: created }
  /report: { methods: { GET: { action: src/report.ts, response: Shared } } }
  /ticket/:id: { methods: { GET: { action: Ticket, response: Shared } } }
schema:
  NewTicket: { type: object, properties: { state: { type: [string, "null"], enum: [new, done, null] }, kind: { enum: [new, done] } } }
  Shared: { type: object, properties: { state: { enum: [new, done] } } }
  Other: { type: object, properties: { state: { enum: [new, done] } } }
event:
  created: { schema: { type: object, properties: { state: { enum: [new] } } } }
  other: { schema: Other }
`

const classes = await loadClasses()

test('new values of a column are added where its rows list all values so far', () => {
  using project = makeProject({ 'waypost.yml': text, 'src/report.ts': '' })
  const files = addValues(openEditing(project.root), {
    connection: 'System',
    table: 'app_ticket',
    classes,
    columns: [{ column: 'state', before: ['new', 'done'], added: ['late'] }],
  })
  const withoutSpace = (one: string) => one.replaceAll(/\s+/g, '')
  const expected = text
    .replace('state: { enum: [new, done] } } }, dispatch', 'state: { enum: [new, done, late] } } }, dispatch')
    .replace('[new, done, null]', '[new, done, null, late]')
  assert.deepEqual([...files.keys()], ['waypost.yml'])
  assert.equal(withoutSpace(files.get('waypost.yml')!), withoutSpace(expected))
})
