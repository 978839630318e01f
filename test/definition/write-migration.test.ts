import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMigration, writeMigration } from '../../src/definition/index.ts'

const texts = [
  `create_table:
  app_list:
    columns:
      id: id
      title: text(200)
  app_todo:
    columns:
      id: id
      list_id: { type: bigint, references: app_list, on_delete: cascade }
      title: { type: text(200), unique: true }
      content: { type: text, null: true }
      status: { type: integer, default: 1 }
      kind: { type: text, default: "1" }
      insert_date: { type: timestamp, default: now }
    unique: [[list_id, title]]
    index: [[status, id], [insert_date, id]]
`,
  `drop_index:
  app_todo: [[status, id]]
add_search:
  app_todo: [title, content]
  app_list:
    columns: [title]
    configuration: english
drop_search:
  app_old: [title]
drop_column:
  app_todo: [status]
rename_column:
  app_todo: { title: name, note: text }
add_column:
  app_todo: { done: { type: boolean, default: false } }
`,
  `- drop_table: [app_old, app_older]
  create_table:
    app_new:
      columns:
        code: text(20)
      key: [code]
- drop_table: [app_oldest]
`,
]

test('a migration is written as a person writes it, and reads as the same steps', () => {
  for (const text of texts) {
    const { steps, diagnostics } = parseMigration('a.yml', text)
    assert.deepEqual(diagnostics, [])
    assert.equal(writeMigration(steps), text)
  }
  assert.equal(writeMigration([]), '')
})
