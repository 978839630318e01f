// docs/events.md shows what its lines print: they are run in order, in one shell, beside a new project that `dev` serves.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { settingsTable } from '../../src/kit/index.ts'
import { checkout, type RunningCli } from '../support/cli.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { comparePrinted, readSteps, runSteps } from './page-steps.ts'
import { longTest } from '../support/forms.ts'

const page = readFileSync(path.join(checkout, 'docs/events.md'), 'utf8')
const steps = readSteps('docs/events.md')

function readBlock(language: string): string {
  const [, text = ''] = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(page) ?? []
  assert.notEqual(text, '')
  return text
}

/** A port that the receiver of the page may have for itself. */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

describe('docs/events.md', () => {
  let project: TestProject
  let dev: RunningCli
  let printed: readonly string[] = []

  before(async () => {
    project = await makeProject()
    const [event] = /^event:\n(?: .*\n)+/m.exec(await project.read('waypost.yml')) ?? ['']
    await project.edit('waypost.yml', event, readBlock('yaml'))
    await project.write('src/todo/insert.ts', readBlock('ts'))
    const receiverPort = await findPort()
    await project.write('receiver.mjs', readBlock('js').replace('4000', String(receiverPort)))
    dev = project.start('dev --no-deliver --port 0')
    const [, port] = await dev.waitFor(/http:\/\/localhost:(\d+)[^]*Ready in/)
    printed = await runSteps(project, steps, {
      'localhost:3000': `localhost:${port}`,
      'localhost:4000': `localhost:${receiverPort}`,
    })
  })
  after(async () => {
    await dev?.stop()
    await project?.remove()
  })

  for (const [index, { name, kind, shown }] of steps.entries()) {
    it(`shows the output of ${name}`, () => comparePrinted[kind]!(printed[index] ?? 'nothing', shown))
  }

  // In CI, dev serves them.
  longTest('has an action and events that validate accepts without a warning', async () => {
    assert.match((await project.run('validate --types --strict')).stdout, /^No problems: /)
  })

  it('has a receiver of 15 lines', () => {
    assert.equal(readBlock('js').trimEnd().split('\n').length, 15)
  })

  it('names the defaults of the settings', () => {
    const names = Object.keys(settingsTable).filter((name) => /^delivery_|^subscription_/.test(name))
    assert.equal(names.length, 6)
    for (const name of names) {
      const value: unknown = settingsTable[name as keyof typeof settingsTable].default
      const written = Array.isArray(value) ? `[${value.join(', ')}]` : (value as string | number)
      assert.ok(page.includes(`| \`${name}\` | \`${written}\` |`), `${name}: ${written}`)
    }
  })

  it('has the line for the crontab that the README has', () => {
    const readme = readFileSync(path.join(checkout, 'README.md'), 'utf8')
    assert.ok(readme.includes(`    ${readBlock('crontab')}`))
  })
})
