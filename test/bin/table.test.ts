import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTable } from '../../bin/cli/index.ts'

const columns = [
  { title: 'NAME', cells: ['a', 'a-longer-name'], narrow: 'cut' as const, order: 1, minWidth: 6 },
  {
    title: 'FILE',
    cells: ['src/one.ts', 'src/folder/another/two.ts'],
    narrow: 'wrap' as const,
    order: 0,
    minWidth: 10,
  },
  { title: 'SIZE', cells: ['1', '200'] },
]

test('columns are as wide as their contents', () => {
  assert.deepEqual(formatTable(columns, 100), [
    'NAME           FILE                       SIZE',
    'a              src/one.ts                 1',
    'a-longer-name  src/folder/another/two.ts  200',
  ])
})

test('without enough space columns become narrower in order, each down to its minimum width', () => {
  assert.deepEqual(formatTable(columns, 38), [
    'NAME           FILE               SIZE',
    'a              src/one.ts         1',
    'a-longer-name  src/folder/        200',
    '               another/two.ts',
  ])
  assert.deepEqual(formatTable(columns, 28), [
    'NAME        FILE        SIZE',
    'a           src/one.ts  1',
    'a-longer-…  src/        200',
    '            folder/',
    '            another/',
    '            two.ts',
  ])
  assert.deepEqual(formatTable(columns, 10)[2], 'a-lon…  src/        200')
})

test('words that are longer than a column are continued too, and nothing is lost', () => {
  const text = 'orders.read or orders.administrate_everything'
  const lines = formatTable([{ title: 'SCOPE', cells: [text], narrow: 'wrap', minWidth: 12 }], 12)
  assert.deepEqual(lines, ['SCOPE', 'orders.read', 'or orders.', 'administrate', '_everything'])
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
