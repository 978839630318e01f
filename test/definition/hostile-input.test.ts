import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { suite, test } from 'node:test'
import { isLong } from '../support/forms.ts'
import { fc, runs } from '../support/property.ts'
import { loadDefinition } from '../../src/definition/index.ts'
import { formatDiagnostics } from '../../src/kit/index.ts'
import { loadFiles, makeProject, showProblem } from './project.ts'
import { typed } from './typed.ts'

const isRoot = process.getuid?.() === 0
const schemaAt = 'waypost.yml:1:9 «!include schema.yml»'
const includesSchema = { 'waypost.yml': 'schema: !include schema.yml\n' }

/** Returns the problems of a project after a change of its folder. */
async function problemsAfter(
  files: Readonly<Record<string, string>>,
  change: (root: string) => void,
): Promise<string[]> {
  using project = makeProject(files)
  change(project.root)
  const { diagnostics } = await loadDefinition(project.root)
  return diagnostics.map(showProblem)
}

suite('files of unexpected kinds', () => {
  test('a link that leads out of the project is rejected, whatever its target', async () => {
    const outside = mkdtempSync(path.join(os.tmpdir(), 'waypost-outside-'))
    try {
      writeFileSync(path.join(outside, 'schema.yml'), 'A: true\n')
      for (const target of [path.join(outside, 'schema.yml'), '/dev/zero', '/proc/self/environ']) {
        const problems = await problemsAfter(includesSchema, (root) =>
          symlinkSync(target, path.join(root, 'schema.yml')),
        )
        assert.deepEqual(problems, [
          `${schemaAt} WP_DEFINITION_INCLUDE_OUTSIDE "schema.yml" is outside the project | Copy the file into the project: only files in its folder are deployed`,
        ])
      }
      const viaFolder = { 'waypost.yml': 'schema: !include inner/schema.yml\n' }
      const problems = await problemsAfter(viaFolder, (root) => symlinkSync(outside, path.join(root, 'inner')))
      assert.match(problems.join(), /INCLUDE_OUTSIDE/)
    } finally {
      rmSync(outside, { recursive: true })
    }
  })

  test('a link within the project is followed, and the project itself may be reached by one', async () => {
    using project = makeProject({ ...includesSchema, 'real/schema.yml': 'A: true\n' })
    symlinkSync('real/schema.yml', path.join(project.root, 'schema.yml'))
    const link = `${project.root}-link`
    symlinkSync(project.root, link)
    try {
      assert.deepEqual((await loadDefinition(link)).definition?.schemas, { A: true })
    } finally {
      unlinkSync(link)
    }
  })

  test('an action reached through a link out of the project is rejected', async () => {
    const yaml = 'routes:\n  /a: { methods: { GET: { public: true, action: a.ts } } }\n'
    const problems = await problemsAfter({ 'waypost.yml': yaml }, (root) =>
      symlinkSync('/etc/hosts', path.join(root, 'a.ts')),
    )
    assert.match(problems.join(), /^waypost.yml:2:49 «a.ts» WP_DEFINITION_ACTION_INVALID "a.ts" is outside the project/)
  })

  test('a pipe neither blocks nor is read', async () => {
    const problems = await problemsAfter(includesSchema, (root) => {
      assert.equal(spawnSync('mkfifo', [path.join(root, 'schema.yml')]).status, 0)
    })
    assert.deepEqual(problems, [
      `${schemaAt} WP_DEFINITION_FILE_REFUSED Cannot read schema.yml: it is not a regular file`,
    ])
  })

  test('circular and dangling links', async () => {
    const circle = await problemsAfter(includesSchema, (root) =>
      symlinkSync('schema.yml', path.join(root, 'schema.yml')),
    )
    assert.deepEqual(circle, [
      `${schemaAt} WP_DEFINITION_FILE_REFUSED Cannot read schema.yml: its symbolic links form a loop`,
    ])
    const nothing = await problemsAfter(includesSchema, (root) =>
      symlinkSync('gone.yml', path.join(root, 'schema.yml')),
    )
    assert.deepEqual(nothing, [
      `${schemaAt} WP_DEFINITION_INCLUDE_MISSING File not found: schema.yml | schema.yml is a broken symbolic link`,
    ])
    const yaml = 'routes:\n  /a: { methods: { GET: { public: true, action: a.ts } } }\n'
    const action = await problemsAfter({ 'waypost.yml': yaml }, (root) => symlinkSync('b.ts', path.join(root, 'a.ts')))
    assert.match(action.join(), /ACTION_MISSING File not found: a\.ts \| a\.ts is a broken symbolic link: fix/)
  })

  test('a file without read permission', { skip: isRoot && 'root may read everything' }, async () => {
    const problems = await problemsAfter({ ...includesSchema, 'schema.yml': '' }, (root) =>
      chmodSync(path.join(root, 'schema.yml'), 0),
    )
    assert.match(problems.join(), /permission denied/)
  })

  test('a file over 1 MB is rejected, one of exactly 1 MB is read', async () => {
    const grow = (bytes: number) => (root: string) => truncateSync(path.join(root, 'schema.yml'), bytes)
    const files = { ...includesSchema, 'schema.yml': '' }
    const large = await problemsAfter(files, grow(1024 ** 2 + 1))
    assert.deepEqual(large, [`${schemaAt} WP_DEFINITION_FILE_REFUSED Cannot read schema.yml: it is larger than 1 MB`])
    assert.doesNotMatch((await problemsAfter(files, grow(1024 ** 2))).join(), /larger/)
    const root = await problemsAfter({}, (root) => writeFileSync(path.join(root, 'waypost.yml'), ' '.repeat(2 ** 21)))
    assert.deepEqual(root, [
      'waypost.yml:1:1 «» WP_DEFINITION_FILE_REFUSED Cannot read waypost.yml: it is larger than 1 MB',
    ])
  })

  test('a file that is not UTF-8, a byte order mark, and Windows line ends', async () => {
    const latin = await problemsAfter(includesSchema, (root) =>
      writeFileSync(path.join(root, 'schema.yml'), Buffer.from([0x41, 0x3a, 0x20, 0xe4, 0x0a])),
    )
    const refused = ': it is not UTF-8 | Save the file as UTF-8; line'
    const other = 'is the first line that is not UTF-8'
    assert.deepEqual(latin, [`${schemaAt} WP_DEFINITION_FILE_REFUSED Cannot read schema.yml${refused} 1 ${other}`])
    const third = Buffer.concat([Buffer.from('# grün\nroutes: {}\n# gr'), Buffer.from([0xfc, 0x6e])])
    const root = await problemsAfter({}, (folder) => writeFileSync(path.join(folder, 'waypost.yml'), third))
    assert.deepEqual(root, [
      `waypost.yml:1:1 «» WP_DEFINITION_FILE_REFUSED Cannot read waypost.yml${refused} 3 ${other}`,
    ])
    const { diagnostics } = await loadFiles({ 'waypost.yml': '\uFEFFroute: {}\r\nschema:\r\n  A: { type: x }\r\n' })
    assert.deepEqual(diagnostics.map(showProblem), [
      'waypost.yml:1:1 «route» WP_DEFINITION_KEY_UNKNOWN "route" is not a valid key of waypost.yml | Did you mean "routes"?',
      'waypost.yml:3:14 «x» WP_DEFINITION_SCHEMA_INVALID "x" is not a JSON Schema type | Use one of string, integer, number, boolean, object, array, null',
    ])
    assert.equal(diagnostics[1]?.source, '  A: { type: x }')
  })

  test('a folder that is not there', async () => {
    const { diagnostics, files } = await loadDefinition('/nowhere/at/all')
    assert.deepEqual(
      diagnostics.map(({ code }) => code),
      ['WP_DEFINITION_FILE_MISSING'],
    )
    assert.deepEqual(files, ['waypost.yml'])
  })
})

suite('content that would never end', () => {
  const bombs: Readonly<Record<string, { readonly files: Readonly<Record<string, string>>; readonly code: string }>> = {
    'aliases that multiply': { files: { 'waypost.yml': makeAliases() }, code: 'WP_DEFINITION_ALIASES' },
    'very many merge keys': {
      files: { 'waypost.yml': `schema:\n  A: &a { type: string }\n  B:\n${'    <<: *a\n'.repeat(20_000)}` },
      code: 'WP_DEFINITION_ALIASES',
    },
    'includes that multiply': { files: makeIncludes(), code: 'WP_DEFINITION_TOO_LARGE' },
    'lists in lists': { files: { 'waypost.yml': `plugins: ${'['.repeat(20_000)}` }, code: 'WP_DEFINITION_TOO_DEEP' },
    'closed lists in lists': {
      files: { 'waypost.yml': `plugins: ${'['.repeat(150)}${']'.repeat(150)}` },
      code: 'WP_DEFINITION_TOO_DEEP',
    },
    'dashes after dashes': { files: { 'waypost.yml': '- '.repeat(20_000) }, code: 'WP_DEFINITION_TOO_DEEP' },
    'a chain of files': { files: makeChain(), code: 'WP_DEFINITION_TOO_DEEP' },
    'a chain of references that ends in a circle': {
      files: { 'waypost.yml': makeReferences(3000) },
      code: 'WP_DEFINITION_SCHEMA_LOOP',
    },
    'many unknown names': {
      files: { 'waypost.yml': makeUnknown(isLong ? 4000 : 800) },
      code: 'WP_DEFINITION_SCHEMA_UNKNOWN',
    },
    'one line with a problem at every turn': {
      files: {
        'waypost.yml': `{ ${Array.from({ length: isLong ? 20_000 : 3000 }, (_, index) => `k${index}: 1`).join(', ')} }`,
      },
      code: 'WP_DEFINITION_KEY_UNKNOWN',
    },
    'references to variables that never close': {
      files: { 'waypost.yml': `config: { cors: "${'${env.A:-'.repeat(50_000)}" }` },
      code: 'WP_DEFINITION_ENV_INVALID',
    },
  }
  for (const [name, { files, code }] of Object.entries(bombs)) {
    test(name, async () => {
      const { definition, diagnostics } = await loadFiles(files)
      assert.equal(definition, undefined)
      assert.ok(
        diagnostics.some((diagnostic) => diagnostic.code === code),
        diagnostics.slice(0, 3).map(showProblem).join('\n'),
      )
      formatDiagnostics(diagnostics.slice(0, 100), { colour: true, width: 80 })
    })
  }
})

function makeAliases(): string {
  const levels = Array.from(
    { length: 9 },
    (_, level) => `  x${level + 1}: &x${level + 1} [${`*x${level}, `.repeat(10)}]`,
  )
  return `schema:\n  x0: &x0 [a, b]\n${levels.join('\n')}\n`
}

function makeIncludes(): Record<string, string> {
  const file = (level: number) =>
    Array.from({ length: 10 }, (_, index) => `k${index}: !include f${level + 1}.yml`).join('\n')
  const last = `[${'1, '.repeat(200)}1]`
  const files = Array.from({ length: 7 }, (_, level) => [`f${level}.yml`, level === 6 ? last : file(level)])
  return { 'waypost.yml': 'schema: !include f0.yml\n', ...(Object.fromEntries(files) as Record<string, string>) }
}

function makeChain(): Record<string, string> {
  const files = Array.from({ length: 200 }, (_, index) => [`f${index}.yml`, `a: !include f${index + 1}.yml\n`])
  return { 'waypost.yml': 'schema: !include f0.yml\n', ...(Object.fromEntries(files) as Record<string, string>) }
}

function makeReferences(count: number): string {
  const schemas = Array.from(
    { length: count },
    (_, index) => `  S${index}: { $ref: schema:///S${(index + 1) % count} }`,
  )
  return `schema:\n${schemas.join('\n')}\n`
}

function makeUnknown(count: number): string {
  const schemas = Array.from(
    { length: count },
    (_, index) => `  Schema${index}: { type: array, items: { $ref: schema:///Shema${index} } }`,
  )
  return `schema:\n${schemas.join('\n')}\n`
}

suite('content that is being typed', () => {
  const folder = path.join(import.meta.dirname, '../fixtures/definition/todo')
  const names = [
    'waypost.yml',
    'resources/schema.yml',
    'resources/routes/todo/collection.yml',
    'resources/routes/todo/entity.yml',
  ]
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]))
  test('never throws, and the location of each problem contains its text', async () => {
    const edit = fc.record({ file: fc.constantFrom(...names), at: fc.nat(700), remove: fc.nat(12), insert: typed })
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
        const changed: Record<string, string> = { ...files }
        for (const { file, at, remove, insert } of edits) {
          const text = changed[file]!
          const start = Math.min(at, text.length)
          changed[file] = text.slice(0, start) + insert + text.slice(start + remove)
        }
        const { definition, diagnostics } = await loadFiles(changed)
        assert.equal(
          definition === undefined,
          diagnostics.some(({ severity }) => severity === 'error'),
        )
        for (const { file, range, source, message, hint = '' } of diagnostics) {
          assert.doesNotMatch(message + hint, /undefined|\[object|\{(problem|name|key|owner|file|reason)\}/)
          if (source === undefined) continue
          const lines = changed[file]!.split('\n')
          assert.equal(source, lines[range.start.line - 1]?.replace(/\r$/, ''), `${file}:${range.start.line}`)
          assert.ok(range.start.column <= source.length + 1)
          assert.ok(range.end.line > range.start.line || range.end.column >= range.start.column)
        }
        formatDiagnostics(diagnostics, { colour: false, width: 40 })
      }),
      { numRuns: runs(200), seed: 20261120 },
    )
  })
})
