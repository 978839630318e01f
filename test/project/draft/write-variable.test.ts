import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { writeVariable } from '../../../src/project/draft/write-variable.ts'

test('a variable is set in the file that takes precedence, or in .env if none sets it', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-variable-'))
  t.after(() => rm(folder, { recursive: true }))
  const files = ['.env', '.env.local', '.env.development']
  const read = (file: string) => readFile(path.join(folder, file), 'utf8')
  await writeFile(path.join(folder, '.env'), 'URL=one\n')
  await writeFile(path.join(folder, '.env.local'), '# mine\nURL=two\n')
  await writeVariable(folder, { name: 'URL', value: 'three', files })
  await writeVariable(folder, { name: 'KEY', value: 'four', files })
  assert.equal(await read('.env'), 'URL=one\nKEY=four\n')
  assert.equal(await read('.env.local'), '# mine\nURL=three\n')
  await assert.rejects(writeVariable(folder, { name: 'WAYPOST_SECRET', value: 'x', files }))
})
