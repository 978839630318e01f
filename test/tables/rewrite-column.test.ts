import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rewriteColumn } from '../../src/tables/index.ts'

const table = `CREATE TABLE "a b" ( -- "title" text,
  id INTEGER NOT NULL, "title" varchar(64) constraint "t (1)" not null on conflict fail default 'it''s, (1)' collate nocase,
  [note] text null default (lower('not null')) check (note <> ', default'),
  other_id bigint not null references "b" ("id") on delete set null on update no action not deferrable initially deferred default -1,
  \`total\` double precision generated always as (id * 2) stored,
  primary key (id), unique (title), check ("title" <> 'note')
)`

const cases = [
  ['title', { type: 'text' }, `"title" text not null default 'it''s, (1)' collate nocase,`],
  ['TITLE', { notNull: false, default: null }, `"title" varchar(64) collate nocase,`],
  ['note', { notNull: true }, `[note] text not null default (lower('not null')) check (note <> ', default'),`],
  ['note', { default: `'x'` }, `[note] text default 'x' check (note <> ', default'),`],
  [
    'other_id',
    { notNull: false, default: '2' },
    `other_id bigint default 2 references "b" ("id") on delete set null on update no action not deferrable initially deferred,`,
  ],
  ['id', { type: 'bigint' }, 'id bigint not null,'],
] as const

for (const [column, parts, expected] of cases)
  test(`changes ${column} to ${JSON.stringify(parts)} and nothing else`, () => {
    const changed = rewriteColumn(table, column, parts)!
    assert.ok(changed.includes(expected), changed)
    const lines = table.split('\n').filter((line) => !changed.includes(line))
    assert.equal(lines.length, 1)
  })

test('a constraint, a comment and another name are no columns', () => {
  for (const name of ['primary', 'check', 'nothing', 'lower']) assert.equal(rewriteColumn(table, name, {}), undefined)
})
