import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import type { Variables } from '../../src/kit/index.ts'
import { validateProject } from '../../src/project/index.ts'
import { makeProject } from '../build/project.ts'

/** Returns the problems of a project of the given files, and whether its types were written. */
async function validate(files: Readonly<Record<string, string>>, variables?: Variables) {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-validate-'))
  try {
    for (const [file, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
      await writeFile(path.join(folder, file), text)
    }
    const { diagnostics } = await validateProject(folder, variables)
    const problems = diagnostics.map(({ file, range, code }) => `${file}:${range.start.line} ${code}`)
    return { problems, typesWritten: existsSync(path.join(folder, '.waypost/types.d.ts')) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

const sound = 'export default class A { handle() { return 1 } }\n'

test('a folder with a backslash in its path is refused', async () => {
  await using project = await makeProject({ 'waypost.yml': 'routes: {}\n' }, 'back\\slash')
  await assert.rejects(validateProject(project.root), { code: 'WP_PROJECT_BACKSLASH' })
})

test('problems of the definition, of sources and of migrations are reported in one run, each once', async () => {
  const found = await validate({
    'waypost.yml': `routes:
  /a: { methods: { GET: { pubic: true, public: true, action: src/a.ts } } }
  /b: { methods: { GET: { public: true, action: src/bad.ts } } }
  /c: { methods: { GET: { public: true, action: src/nofile.ts } } }
  /d: { methods: { GET: { public: true, action: src/d.ts }, DELETE: { scopes: [], action: src/nofile.ts } } }
`,
    'src/a.ts': sound,
    'src/bad.ts': 'export default class {\n',
    'src/d.ts': `import './gone.ts'\n${sound}`,
    'migrations/System/1.ts': 'export default {\n',
  })
  assert.deepEqual(found, {
    problems: [
      'waypost.yml:2 WP_DEFINITION_KEY_UNKNOWN',
      'waypost.yml:4 WP_BUILD_ACTION_MISSING',
      'waypost.yml:5 WP_BUILD_ACTION_MISSING',
      'migrations/System/1.ts:2 WP_BUILD_SOURCE',
      'src/bad.ts:2 WP_BUILD_SOURCE',
      'src/d.ts:1 WP_BUILD_IMPORT_MISSING',
    ],
    typesWritten: false,
  })
})

test('a definition that cannot be read at all is the only problem', async () => {
  const files = { 'src/bad.ts': 'export default class {\n' }
  assert.deepEqual((await validate({ 'waypost.yml': 'routes: [\n', ...files })).problems, [
    'waypost.yml:1 WP_DEFINITION_YAML',
  ])
  assert.deepEqual((await validate({ 'waypost.yml': '', ...files })).problems, ['waypost.yml:1 WP_DEFINITION_EMPTY'])
})

test('a sound project has no problem, and its types are written', async () => {
  const yaml = 'routes:\n  /a: { methods: { GET: { public: true, action: src/a.ts } } }\n'
  assert.deepEqual(await validate({ 'waypost.yml': yaml, 'src/a.ts': sound }), { problems: [], typesWritten: true })
})

test('schemas for editors know the classes of plugins, and stay up to date once they are there', async () => {
  const plugin = (property: string) => `export default {
  name: 'geo',
  config: { type: 'object', properties: { key: { type: 'string' } } },
  connections: { 'geo-map': { config: { type: 'object', properties: { ${property}: { type: 'string' } } }, open() {} } },
}
`
  const yaml = 'routes:\n  /a: { methods: { GET: { public: true, action: src/a.ts } } }\n'
  await using project = await makeProject({ 'waypost.yml': yaml, 'src/a.ts': sound, 'plugins/geo.ts': plugin('city') })
  const names = ['waypost-route.schema.json', 'waypost-schemas.schema.json', 'waypost.schema.json']
  const read = async () => {
    assert.deepEqual((await validateProject(project.root)).diagnostics, [])
    const files = await readdir(path.join(project.root, '.waypost'))
    assert.deepEqual(files.filter((file) => file.endsWith('.json')).toSorted(), files.length > 1 ? names : [])
    return files.length > 1 ? readFile(path.join(project.root, '.waypost/waypost.schema.json'), 'utf8') : undefined
  }
  assert.equal(await read(), undefined)
  await project.write('waypost.yml', `${yaml}plugins: [./plugins/geo.ts]\n`)
  const first = (await read()) ?? ''
  for (const part of ['"city"', '"const":"geo-map"', '"const":"./plugins/geo.ts"', '"const":"sql-table"'])
    assert.ok(first.includes(part), part)
  await project.write('plugins/geo.ts', plugin('town'))
  assert.match((await read()) ?? '', /"town"/)
  await project.write('waypost.yml', yaml)
  assert.doesNotMatch((await read()) ?? 'geo-map', /geo-map/)
})

test('declared variables are checked where the environment is given, and process.env is warned of', async () => {
  const files = {
    'waypost.yml': `env: { KEY: , MOST: { type: integer, default: 3 }, DEBUG: { type: boolean, default: false } }
routes: { /a: { methods: { GET: { public: true, action: src/a.ts } } } }
`,
    'src/a.ts': 'export default class A {\n  handle() {\n    return process.env.KEY\n  }\n}\n',
  }
  const warning = 'src/a.ts:3 WP_BUILD_PROCESS_ENV'
  assert.deepEqual((await validate(files)).problems, [warning])
  assert.deepEqual((await validate(files, { KEY: 'x' })).problems, [warning])
  const wrong = await validate(files, { MOST: '3.5', DEBUG: 'yes' })
  assert.deepEqual(wrong.problems, [
    'waypost.yml:1 WP_DEFINITION_ENV_MISSING',
    'waypost.yml:1 WP_DEFINITION_ENV_TYPE',
    'waypost.yml:1 WP_DEFINITION_ENV_TYPE',
    warning,
  ])
})

test('with variables, pages with scripts on the origin of the backend are a warning', async () => {
  const files = {
    'waypost.yml': `routes:
  /a: { methods: { GET: { public: true, action: src/a.ts } } }
  /b:
    methods:
      GET: { public: true, html: trusted, action: src/a.ts }
      POST: { scopes: [], html: trusted, action: src/a.ts }
`,
    'src/a.ts': sound,
  }
  const warned = ['waypost.yml:5 WP_HOST_SHARED_ORIGIN']
  assert.deepEqual((await validate(files)).problems, [])
  assert.deepEqual((await validate(files, {})).problems, warned)
  assert.deepEqual((await validate(files, { WAYPOST_BACKEND: 'read' })).problems, warned)
  assert.deepEqual((await validate(files, { WAYPOST_BACKEND: 'off' })).problems, [])
  assert.deepEqual((await validate(files, { WAYPOST_BACKEND_URL: 'https://admin.example.com' })).problems, [])
})
