import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { generateClient, validateProject } from '../../src/project/index.ts'
import { writeFiles } from '../support/project-server.ts'
import { tableConfigSchema } from '../../plugins/sql/src/table/config.ts'

describe('docs/sql-table.md', () => {
  let page: string
  let folder: string
  before(async () => {
    page = await readFile(path.join(import.meta.dirname, '../../docs/sql-table.md'), 'utf8')
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-page-'))
  })
  after(() => rm(folder, { recursive: true }))

  const validate = async (change: (yaml: string) => string = String) => {
    const [migration = '', yaml = ''] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text!)
    await writeFiles(folder, { 'migrations/System/20260101-order.yml': migration, 'waypost.yml': change(yaml) })
    const { diagnostics } = await validateProject(folder)
    return diagnostics.map(({ message, range }) => `${range.start.line} ${message}`)
  }

  test('has a valid example', async () => assert.deepEqual(await validate(), []))

  test('has an example whose mistakes are reported', async () => {
    const found = await validate((yaml) => yaml.replace('write: [total, title]', 'write: [total, titel]'))
    assert.deepEqual(found, ['7 Unknown column "titel"'])
  })

  test('calls functions that the client of its example has', async () => {
    assert.deepEqual(await validate(), [])
    const client = await generateClient({ folder, variables: {}, onDiagnostics: () => undefined })
    const [, snippet = ''] = /```ts\n(.*?)```/s.exec(page) ?? []
    const called = [...snippet.matchAll(/await (\w+)\(/g)].map(([, name]) => name!)
    assert.ok(called.length > 0)
    for (const name of called) assert.match(client, new RegExp(`^export function ${name}\\(`, 'm'))
  })

  test('describes all keys of the config', () => {
    const [, config = ''] = page.split('## Config')
    const described = [...config.split('\n## ')[0]!.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
    assert.deepEqual(described, Object.keys(tableConfigSchema.properties))
  })
})
