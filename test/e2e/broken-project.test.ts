// What is wrong in a project is named at its place, and neither checking nor deploying it changes anything.
import assert from 'node:assert/strict'
import { cp, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { makeProject, type TestProject } from '../support/project.ts'
import { assertCalm } from './serving.ts'
import { readSystem } from './snapshot.ts'
import { longTest } from '../support/forms.ts'

interface Case {
  readonly break: (project: TestProject) => Promise<unknown>
  /** Code, place and message of the first diagnostic that is an error. */
  readonly code: string
  readonly at: string
  readonly says: RegExp
}

const collection = 'resources/routes/todo/collection.yml'
const entity = 'resources/routes/todo/entity.yml'
const action = 'src/todo/insert.ts'
const connection = (use: string) => async (project: TestProject) =>
  project.write('waypost.yml', `${await project.read('waypost.yml')}connection:\n  Orders: ${use}\n`)

const cases: Record<string, Case> = {
  'a YAML syntax error': {
    break: (project) => project.edit(entity, 'scopes: [todo]', 'scopes: [todo'),
    code: 'WP_DEFINITION_YAML',
    at: `${entity}:2:9`,
    says: /^A closing bracket is missing$/,
  },
  'an unknown key': {
    break: (project) => project.edit(collection, '    public: true', '    pubilc: true'),
    code: 'WP_DEFINITION_KEY_UNKNOWN',
    at: `${collection}:6:5`,
    says: /^"pubilc" is not a valid key of /,
  },
  'an include that is missing': {
    break: (project) => project.edit('waypost.yml', 'collection.yml', 'colection.yml'),
    code: 'WP_DEFINITION_INCLUDE_MISSING',
    at: 'waypost.yml:3:10',
    says: /^File not found: resources\/routes\/todo\/colection\.yml$/,
  },
  'files that include each other': {
    break: async (project) => {
      await project.write(entity, 'scopes: [todo]\nmethods: !include methods.yml\n')
      await project.write('resources/routes/todo/methods.yml', 'GET: !include entity.yml\n')
    },
    code: 'WP_DEFINITION_INCLUDE_CYCLE',
    at: 'resources/routes/todo/methods.yml:1:6',
    says: /"entity\.yml" includes itself/,
  },
  'an include that leaves the project': {
    break: async (project) => {
      await writeFile(path.join(project.folder, '../outside.yml'), 'A: { type: string }\n')
      await project.edit('waypost.yml', 'resources/schema.yml', '../outside.yml')
    },
    code: 'WP_DEFINITION_INCLUDE_OUTSIDE',
    at: 'waypost.yml:5:9',
    says: /^"\.\.\/outside\.yml" is outside the project$/,
  },
  'an include of a link that leaves the project': {
    break: async (project) => {
      await writeFile(path.join(project.folder, '../outside.yml'), 'A: { type: string }\n')
      await symlink('../../outside.yml', path.join(project.folder, 'resources/link.yml'))
      await project.edit('waypost.yml', 'resources/schema.yml', 'resources/link.yml')
    },
    code: 'WP_DEFINITION_INCLUDE_OUTSIDE',
    at: 'waypost.yml:5:9',
    says: /^"resources\/link\.yml" is outside the project$/,
  },
  'an unknown schema': {
    break: (project) => project.edit(collection, 'Todo-Collection', 'Todo-Colection'),
    code: 'WP_DEFINITION_SCHEMA_UNKNOWN',
    at: `${collection}:9:15`,
    says: /^Unknown schema "Todo-Colection"$/,
  },
  'a type that JSON Schema does not have': {
    break: (project) =>
      project.edit(
        'resources/schema.yml',
        'content: { type: string }\n    insert',
        'content: { type: sting }\n    insert',
      ),
    code: 'WP_DEFINITION_SCHEMA_INVALID',
    at: 'resources/schema.yml:9:22',
    says: /"sting" is not a JSON Schema type/,
  },
  'an action file that is missing': {
    break: (project) => project.edit(collection, 'insert.ts', 'insrt.ts'),
    code: 'WP_BUILD_ACTION_MISSING',
    at: `${collection}:15:13`,
    says: /^File not found: src\/todo\/insrt\.ts$/,
  },
  'an action file with a syntax error': {
    break: (project) => project.edit(action, 'const todo', 'const todo todo'),
    code: 'WP_BUILD_SOURCE',
    at: `${action}:6:18`,
    says: /Expected ";" but found "todo"/,
  },
  'an action file without a default export': {
    break: (project) => project.edit(action, 'export default class', 'export class'),
    code: 'WP_BUILD_ACTION_NO_CLASS',
    at: `${action}:1:1`,
    says: /^The default export of src\/todo\/insert\.ts is not a class with a method "handle"$/,
  },
  'an action file whose default export is not a class': {
    break: (project) => project.write(action, 'export default { handle: () => 1 }\n'),
    code: 'WP_BUILD_ACTION_NO_CLASS',
    at: `${action}:1:1`,
    says: /^The default export of src\/todo\/insert\.ts is not a class with a method "handle"$/,
  },
  'an action file that fails when it is loaded': {
    break: async (project) => project.write(action, `throw new Error('not today')\n${await project.read(action)}`),
    code: 'WP_BUILD_ACTION_LOAD',
    at: `${action}:1:7`,
    says: /not today/,
  },
  'an unknown connection class': {
    break: connection('{ class: sqlit, config: { file: orders.db } }'),
    code: 'WP_DEFINITION_CLASS_UNKNOWN',
    at: 'waypost.yml:10:20',
    says: /^Unknown connection class "sqlit"$/,
  },
  'a config that its connection class does not take': {
    break: connection('{ class: sqlite, config: { file: 7 } }'),
    code: 'WP_DEFINITION_CLASS_CONFIG',
    at: 'waypost.yml:10:44',
    says: /"config\/file" must be string, not 7/,
  },
}

let project: TestProject
let deployed: ReturnType<typeof readSystem>
const parts = ['waypost.yml', 'resources', 'src', 'migrations']
const keep = () => path.join(project.folder, '../kept')

before(async () => {
  project = await makeProject()
  await project.ok('migrate')
  await project.ok('deploy --yes')
  for (const part of parts) await cp(path.join(project.folder, part), path.join(keep(), part), { recursive: true })
  deployed = readSystem(project)
})
after(() => project.remove())

const short = new Set(['a YAML syntax error', 'an action file that fails when it is loaded'])

for (const [what, { break: breakIt, at, code, says }] of Object.entries(cases)) {
  // definition/broken-projects.test.ts and build/check-modules.test.ts have the other problems.
  const declare = short.has(what) ? test : longTest
  declare(`${what} prevents deploy`, async (t) => {
    t.after(restore)
    await breakIt(project)
    const { code: exitCode, stdout, stderr } = await project.run('deploy --yes')
    assert.deepEqual([exitCode, stdout], [1, ''])
    assert.ok(stderr.includes(`\n${at}  `), stderr)
    assert.match(stderr.slice(stderr.indexOf(at) + at.length + 2).split('\n')[0]!, says)
    assert.ok(stderr.includes(` ${code}\n`), stderr)
    assert.match(stderr, /^Error: The project has \d errors?; nothing was changed\n {2}Fix the problems above/m)
    assertCalm(stderr)
    assert.deepEqual(readSystem(project), deployed)
  })
}

for (const what of ['a YAML syntax error', 'an action file that is missing', 'an unknown connection class']) {
  test(`${what} is reported by validate --json`, async (t) => {
    t.after(restore)
    const { break: breakIt, at, code, says } = cases[what]!
    await breakIt(project)
    const validated = await project.run('validate --json')
    assert.equal(validated.code, 1)
    const { ok, diagnostics } = JSON.parse(validated.stdout)
    const { file, line, column, message, ...first } = diagnostics.find(isError)
    assert.deepEqual([ok, first.code, `${file}:${line}:${column}`], [false, code, at])
    assert.match(message, says)
    assert.equal(validated.stderr, '')
  })
}

test('validate runs no code of the project: errors on loading are found by deploy', async (t) => {
  t.after(restore)
  await cases['an action file that fails when it is loaded']!.break(project)
  assert.match(await project.ok('validate'), /^No problems: /)
})

test('a folder without waypost.yml is not a project', async (t) => {
  t.after(restore)
  await rm(path.join(project.folder, 'waypost.yml'))
  for (const words of ['deploy --yes', 'validate']) {
    const { code, stdout, stderr } = await project.run(words)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      /^Error: There is no waypost\.yml in \S+\n {2}Change to the folder of a project, or create one: /,
    )
  }
  assert.deepEqual(readSystem(project), deployed)
})

test('fixed, the same project is already being served', async () => {
  assert.match(
    await project.ok('deploy --yes'),
    /is already active\. Nothing to do\.\n {2}Serving {4}no server is running/,
  )
})

async function restore(): Promise<void> {
  for (const part of parts) {
    await rm(path.join(project.folder, part), { recursive: true, force: true })
    await cp(path.join(keep(), part), path.join(project.folder, part), { recursive: true })
  }
}

function isError(diagnostic: { severity: string }): boolean {
  return diagnostic.severity === 'error'
}
