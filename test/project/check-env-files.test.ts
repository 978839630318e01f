import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { checkEnvFiles } from '../../src/project/check-env-files.ts'
import { writeFiles } from '../support/project-server.ts'
import { useTemporaryFolder } from '../testing/temporary-folder.ts'

test('doctor says which file each variable comes from, and no value', async (t) => {
  const temporary = await useTemporaryFolder()
  t.after(() => temporary.remove())
  const folder = path.join(temporary.folder, 'project')
  await writeFiles(folder, { 'waypost.yml': '' })
  assert.deepEqual(checkEnvFiles(folder), [])
  await writeFiles(folder, { '.env': 'URL=secret-1\nKEY=secret-2\nPATH=secret-3\n' })
  const message = 'PATH from the environment; KEY, URL from .env'
  assert.deepEqual(checkEnvFiles(folder), [{ check: 'env files', state: 'ok', message }])
  await writeFiles(folder, { '.env.development': 'URL=secret-4\n' })
  assert.match(checkEnvFiles(folder)[0]!.message, /; KEY from \.env; URL from \.env\.development\. Only dev, seed/)
})
