import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { runCli } from '../support/cli.ts'
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
    const tests = [process.execPath, '--test', '--test-reporter=spec']
    const covered = await runCli(['coverage', '--min=100', '--lcov=contract.info', '--', ...tests], { cwd: folder })
    assert.match(covered.stdout, /^ℹ pass 4$/m)
    assert.match(covered.stdout, /^ℹ fail 0$/m)
    assert.match(
      covered.stdout,
      /^Contract coverage {2}\d\d% .*^ {2}Methods +\d of \d$.*^Not covered by any test\n\n {2}waypost\.yml\n +\d+ {2}\S/ms,
    )
    assert.match(covered.stderr, /Less than 100% of the definition is covered by tests/)
    assert.equal(covered.code, 1)
    assert.match(await readFile(path.join(folder, 'contract.info'), 'utf8'), /^SF:.*waypost\.yml$.*^DA:\d+,[1-9]/ms)
    const none = await runCli(['coverage', '--', process.execPath, '-e', '0'], { cwd: folder })
    assert.equal(none.code, 1)
    assert.match(none.stderr, /ran no test that opens the project with createTestApp/)
    const missing = await runCli(['coverage', '--', 'no-such-runner'], { cwd: folder })
    assert.match(missing.stderr, /Cannot start "no-such-runner": command not found/)
  })
}
