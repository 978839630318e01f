import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { cleanEnvironment } from '../support/cli.ts'
import { makeProject } from '../support/project.ts'

test('the tests of the to-do project pass', async () => {
  const project = await makeProject()
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=spec'], {
      cwd: project.folder,
      env: cleanEnvironment(),
    })
    assert.match(stdout, /^ℹ pass 4$/m)
    assert.match(stdout, /^ℹ fail 0$/m)
  } finally {
    await project.remove()
  }
})
