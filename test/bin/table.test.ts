import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTable, shortenEnd, shortenPath } from '../../bin/cli/index.ts'

const columns = [
  { title: 'NAME', cells: ['a', 'a-longer-name'], shorten: shortenEnd, order: 1, minWidth: 6 },
  { title: 'FILE', cells: ['src/one.ts', 'src/folder/another/two.ts'], shorten: shortenPath, order: 0, minWidth: 10 },
  { title: 'SIZE', cells: ['1', '200'] },
]

test('columns are as wide as their contents', () => {
  assert.deepEqual(formatTable(columns, 100), [
    'NAME           FILE                       SIZE',
    'a              src/one.ts                 1',
    'a-longer-name  src/folder/another/two.ts  200',
  ])
})

test('without enough space columns are shortened in order, each down to its minimum width', () => {
  assert.deepEqual(formatTable(columns, 38), [
    'NAME           FILE               SIZE',
    'a              src/one.ts         1',
    'a-longer-name  …/another/two.ts   200',
  ])
  assert.deepEqual(formatTable(columns, 28), [
    'NAME        FILE        SIZE',
    'a           src/one.ts  1',
    'a-longer-…  …/two.ts    200',
  ])
  assert.deepEqual(formatTable(columns, 10)[2], 'a-lon…  …/two.ts    200')
})

test('a table without rows is its titles', () => {
  assert.deepEqual(
    formatTable(
      [
        { title: 'NAME', cells: [] },
        { title: 'SIZE', cells: [] },
      ],
      80,
    ),
    ['NAME  SIZE'],
  )
})

test('a path keeps its end, with complete folders if one fits', () => {
  assert.equal(shortenPath('resources/routes/todo/collection.yml:3', 24), '…/todo/collection.yml:3')
  assert.equal(shortenPath('a-very-long-file-name.ts:12', 12), '…-name.ts:12')
})
