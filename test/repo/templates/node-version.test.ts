// Node before 22.18 finds no TypeScript tests, and `node --test` passes without tests.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { checkout } from '../../support/cli.ts'

const own = JSON.parse(readFileSync(path.join(checkout, 'package.json'), 'utf8')) as { engines: { node: string } }
const needed = own.engines.node.replace('>=', '')

for (const template of ['todo', 'empty', 'plugin']) {
  const file = path.join(checkout, 'templates', template, 'test/node-version.test.js')

  for (const [version, status] of [
    ['20.19.5', 1],
    ['24.10.0', 1],
    [needed, 0],
    ['25.0.0', 0],
  ] as const) {
    test(`the tests of the template ${template} ${status === 0 ? 'pass' : 'fail'} on Node ${version}`, () => {
      const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`
      const run = spawnSync(process.execPath, ['--import', `data:text/javascript,${pretend}`, file], {
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
        encoding: 'utf8',
      })
      assert.equal(run.status, status, run.stdout + run.stderr)
      const reason = `This ${template === 'plugin' ? 'plugin' : 'project'} needs Node ${needed} or newer; this is Node ${version}`
      assert.equal(run.stdout.includes(reason), status === 1)
    })
  }
}
