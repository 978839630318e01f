import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { loadDefinition } from '../../src/definition/index.ts'
import { formatDiagnostics } from '../../src/kit/index.ts'
import { isLong } from '../support/forms.ts'
import { fill, largeFiles, lines, manyFiles } from './large-files.ts'
import { makeProject } from './project.ts'

async function check(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  using project = makeProject({ 'a.ts': '', ...files })
  const { diagnostics } = await loadDefinition(project.root)
  const text = formatDiagnostics(diagnostics, { colour: true, width: 80 })
  assert.ok(diagnostics.length <= 2001)
  const longest = text.split('\n').reduce((one, other) => (other.length > one.length ? other : one))
  assert.ok(longest.length < 1000, `${longest.slice(0, 300)} … ${longest.length}`)
  return diagnostics.map(({ code }) => code)
}

suite('a file of', () => {
  for (const [name, [text, code]] of Object.entries(largeFiles)) {
    test(name, async () => {
      const codes = await check({ 'waypost.yml': text })
      if (code === undefined) return
      const wanted = new Set(code.split('|').flatMap((one) => [`WP_${one}`, `WP_DEFINITION_${one}`]))
      assert.ok(
        codes.some((one) => wanted.has(one)),
        `${codes.slice(0, 3).join(', ')} …`,
      )
    })
  }
})

test('thousands of included files, each read once', async () => {
  const count = isLong ? 10_000 : 300
  using project = makeProject(manyFiles(count))
  const { diagnostics, definition } = await loadDefinition(project.root)
  assert.deepEqual(diagnostics, [])
  assert.equal(Object.keys(definition!.schemas).length, count)
})

test('many files of a megabyte are rejected together', async () => {
  const large = `A: { description: ${fill('x', 1_000_000)} }\n`
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${index}.yml`, large]))
  const codes = await check({
    ...files,
    'waypost.yml': `schema:\n${lines(20, (index) => ` k${index}: !include f${index}.yml`)}\n`,
  })
  assert.ok(codes.includes('WP_DEFINITION_FILE_REFUSED'))
})

test('of very many problems two thousand are kept, plus one that says there are more', async () => {
  using project = makeProject({ 'waypost.yml': lines(3000, (index) => `k${index}: 1`) })
  const { diagnostics, definition } = await loadDefinition(project.root)
  assert.equal(diagnostics.length, 2001)
  assert.equal(diagnostics.at(-1)!.code, 'WP_DEFINITION_TOO_MANY')
  assert.equal(definition, undefined)
})

test('other work gets its turns while many routes are loaded', async () => {
  let turns = 0
  let isLoaded = false
  const count = () => void ((turns += 1), isLoaded || setImmediate(count))
  setImmediate(count)
  const routes = Array.from({ length: 4000 }, (_, index) => `  /${index}: { methods: { GET: { action: a.ts } } }\n`)
  using project = makeProject({ 'a.ts': '', 'waypost.yml': `routes:\n${routes.join('')}` })
  const { counts } = await loadDefinition(project.root)
  isLoaded = true
  assert.equal(counts.routes, 4000)
  assert.ok(turns >= 2, `${turns} turns`)
})
