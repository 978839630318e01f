import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const writesHtml =
  /dangerouslySetInnerHTML|\b(?:innerHTML|outerHTML|srcdoc|srcDoc)\b|insertAdjacentHTML|document\.write|createContextualFragment|parseFromString/

test('pages show texts of users as texts: none is read as HTML', () => {
  assert.match('<p dangerouslySetInnerHTML={{ __html: name }} />', writesHtml)
  const files = globSync(['src/backend/ui/**/*.{ts,tsx}'])
  assert.ok(files.length > 100)
  assert.deepEqual(
    files.filter((file) => writesHtml.test(readFileSync(file, 'utf8'))),
    [],
  )
})
