// docs/oauth.md shows what its lines print: they are run in order, in one shell, beside a new project that `dev` serves.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { checkout, type RunningCli } from '../support/cli.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { comparePrinted, readSteps, runSteps } from './page-steps.ts'

const page = readFileSync(path.join(checkout, 'docs/oauth.md'), 'utf8')
const steps = readSteps('docs/oauth.md')

describe('docs/oauth.md', () => {
  let project: TestProject
  let dev: RunningCli
  let printed: readonly string[] = []

  before(async () => {
    project = await makeProject()
    // The shell starts many processes, which takes its time where others are at work.
    await project.edit('waypost.yml', 'config: {', 'config: { refresh_grace: 1h, code_lifetime: 10m,')
    dev = project.start('dev --no-deliver --port 0')
    const [, port] = await dev.waitFor(/http:\/\/localhost:(\d+)[^]*Ready in/)
    printed = await runSteps(project, steps, { 'http://localhost:3000': `http://localhost:${port}` })
  })
  after(async () => {
    await dev?.stop()
    await project?.remove()
  })

  for (const [index, { name, kind, shown }] of steps.entries()) {
    it(`shows the output of ${name}`, () => comparePrinted[kind]!(printed[index] ?? 'nothing', shown))
  }

  it('contains a response for the output of each flow', () => {
    const silent = steps.filter(({ shown, kind }) => shown === '' || !(kind in comparePrinted))
    assert.deepEqual(
      silent.map(({ name }) => name),
      [],
    )
  })

  it('names the versions that the suite runs', () => {
    const rows = [...page.matchAll(/^\| ([\w-]+) \| (\d+\.\d+\.\d+) \|/gm)]
    assert.equal(rows.length, 4)
    for (const [, client = '', version] of rows) {
      const file = path.join(checkout, 'node_modules', client, 'package.json')
      assert.equal(JSON.parse(readFileSync(file, 'utf8')).version, version, client)
    }
  })
})
