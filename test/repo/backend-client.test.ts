import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { clientFile, makeClientTypes } from '../../bin/write-backend-client.ts'
import { checkout } from '../support/cli.ts'

test('the types of the admin API for its pages are up to date: npm run write:backend-client', async () => {
  assert.equal(await readFile(path.join(checkout, clientFile), 'utf8'), makeClientTypes())
})
