import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/** Returns the tags of code in a page that a translation by the browser would change. */
function findTranslated(text: string): string[] {
  return [...text.matchAll(/<(?:code|pre)(?=[\s>])[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => !tag.includes('translate="no"'))
}

test('browsers translate no code on pages', () => {
  assert.deepEqual(findTranslated('<code>npm</code><pre translate="no">'), ['<code>'])
  const files = globSync(['src/backend/ui/**/*.tsx', 'src/auth/authorize/pages/*.ts'])
  assert.ok(files.length > 100)
  const found = files.flatMap((file) => findTranslated(readFileSync(file, 'utf8')).map((tag) => `${file}: ${tag}`))
  assert.deepEqual(found, [])
})
