import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { joinPlugins, loadBuiltInPlugins } from '../../src/plugin/index.ts'
import { validateProject } from '../../src/project/index.ts'
import { writeFiles } from '../support/project-server.ts'

const page = readFileSync(path.join(import.meta.dirname, '../../docs/action-classes.md'), 'utf8')
const sections = page.split(/^##+ /m).slice(1)

describe('docs/action-classes.md', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'waypost-classes-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  test('has each class that ships with Waypost', async () => {
    const { actions } = joinPlugins(await loadBuiltInPlugins())
    for (const name of actions.keys()) assert.ok(page.includes(`\`${name}\``), name)
  })

  for (const section of sections) {
    const title = section.split('\n', 1)[0]!
    test(`the example of ${title} is valid`, async () => {
      const example = /```yaml\n(.*?)```/s.exec(section)?.[1]
      assert.ok(example, 'there is none')
      const routes = /^routes:/m.test(example) ? '' : 'routes: {}\n'
      await writeFiles(folder, { 'waypost.yml': `${example}${routes}`, 'package.json': '{}' })
      const { diagnostics } = await validateProject(folder)
      assert.deepEqual(
        diagnostics.map(({ message, hint }) => `${message} | ${hint}`),
        [],
      )
    })
  }
})
