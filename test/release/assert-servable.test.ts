import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertServable } from '../../src/release/index.ts'

test('a release of a newer Waypost is rejected, with both versions', () => {
  for (const built of ['1.2.4', '1.3.0', '2.0.0', '10.0.0']) {
    assert.throws(() => assertServable({ waypost: built }, '1.2.3'), {
      code: 'WP_RELEASE_NEWER',
      message: `The active release was built by waypost ${built}; this is version 1.2.3`,
    })
  }
})

test('a release of the same or an older Waypost is served', () => {
  for (const built of ['1.2.3', '1.2.2', '1.1.9', '0.9.0', '1.2.3-beta.1']) assertServable({ waypost: built }, '1.2.3')
})
