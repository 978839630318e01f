import assert from 'node:assert/strict'
import { test } from 'node:test'
import { excerptOf } from '../../../src/operate/index.ts'

const content = `routes:
  /todo:
    methods:
      GET:
        # Everyone may read.
        public: true

        action: src/list.ts
      POST: { action: src/add.ts }

  /note: !include note.yml
`
const files = [{ path: 'resources/api.yml', content }]

test('the text of an entry is its line and the following lines that are indented more', () => {
  assert.equal(
    excerptOf(files, 'resources/api.yml:4'),
    'GET:\n  # Everyone may read.\n  public: true\n\n  action: src/list.ts',
  )
  assert.equal(excerptOf(files, 'resources/api.yml:9'), 'POST: { action: src/add.ts }')
  assert.equal(excerptOf(files, 'resources/api.yml:11'), '/note: !include note.yml')
})

test('a line or a file that does not exist has no text', () => {
  for (const source of ['resources/api.yml:40', 'other.yml:1', 'resources/api.yml']) {
    assert.equal(excerptOf(files, source), undefined, source)
  }
})
