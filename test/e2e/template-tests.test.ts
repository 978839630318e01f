import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { cleanEnvironment, runCli } from '../support/cli.ts'
import { isLong } from '../support/forms.ts'
import { linkDependencies } from '../support/project.ts'

// Those of `todo` are run by init.test.ts too.
for (const template of isLong ? ['todo', 'crud'] : ['crud']) {
  test(`the tests of the template ${template} pass`, async () => {
    await using home = await mkdtempDisposable(path.join(tmpdir(), 'waypost-template-'))
    const { code, stderr } = await runCli(`init api --template ${template} --yes --no-install`.split(' '), {
      cwd: home.path,
    })
    assert.equal(code, 0, stderr)
    const folder = path.join(home.path, 'api')
    await linkDependencies(folder)
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=spec'], {
      cwd: folder,
      env: cleanEnvironment(),
    })
    assert.match(stdout, /^ℹ pass 4$/m)
    assert.match(stdout, /^ℹ fail 0$/m)
  })
}
