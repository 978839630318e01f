import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findItems } from '../../src/backend/ui/shell/find-items.ts'

const items = [
  { group: 'Pages', label: 'Routes' },
  { group: 'Routes', label: '/todo', words: 'GET' },
  { group: 'Routes', label: '/todo/:todo_id', words: 'GET' },
  { group: 'Routes', label: '/todo', words: 'POST' },
  { group: 'Routes', label: '/autodoor', words: 'GET' },
  { group: 'Schemas', label: 'Todo' },
  { group: 'Events', label: 'todo_created' },
]
const find = (text: string) =>
  findItems(items, text).map(({ group, items: found }) =>
    [group, ...found.map(({ label, words = '' }) => `${words}${label}`)].join(' '),
  )

for (const [text, expected] of Object.entries({
  'post todo': ['Routes POST/todo'],
  'todo get': ['Routes GET/todo GET/todo/:todo_id GET/autodoor'],
  TODO: ['Schemas Todo', 'Routes GET/todo POST/todo GET/todo/:todo_id GET/autodoor', 'Events todo_created'],
  tcreated: ['Events todo_created'],
  'event todo': ['Events todo_created'],
  rou: ['Pages Routes', 'Routes GET/todo POST/todo GET/autodoor GET/todo/:todo_id'],
  'todo xyz': [],
})) {
  test(`"${text}" finds ${expected.join(', ') || 'nothing'}`, () => assert.deepEqual(find(text), expected))
}

test('finds at most 8 in each group', () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({ group: 'Routes', label: `/thing${index}` }))
  assert.equal(findItems(many, 'thing')[0]!.items.length, 8)
})
