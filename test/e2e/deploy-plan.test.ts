// A pipeline looks at what a deployment would change, and deploys it to System directly.
import assert from 'node:assert/strict'
import { cp, mkdir, readdir, rm, symlink, utimes } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { checkout } from '../support/cli.ts'
import { makeProject, openProject, type TestProject } from '../support/project.ts'
import { longTest } from '../support/forms.ts'

const reading = { WAYPOST_SYSTEM_URL: 'sqlite:live.db' }
const env = {
  ...reading,
  WAYPOST_SECRET: 'the-secret-of-this-test-that-nobody-may-read',
  WAYPOST_BASE_URL: 'https://api.example.com',
}

interface PlanJson {
  readonly release: string
  readonly active: { readonly id: string } | null
  readonly breaking: number
  readonly activated: boolean
}

describe('a deployment and its plan', { concurrency: 1 }, () => {
  let project: TestProject
  before(async () => {
    project = await makeProject()
  })
  after(() => project.remove())

  const planned = async (more = '') => {
    const ended = await project.run(`deploy --plan --json${more}`, { env: reading })
    return { ...ended, plan: JSON.parse(ended.stdout) as PlanJson }
  }

  it('stops early if the target is invalid', async () => {
    const { code, stderr, stdout } = await project.run('deploy --yes')
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(
      stderr.replaceAll(/\s+/g, ' '),
      /There is no System database at \.waypost\/system\.db, and neither WAYPOST_SYSTEM_URL nor --url is set.* In a pipeline, set one of them\. On this machine, run waypost dev or waypost migrate first\./,
    )
  })

  // In CI, release/import-with-timeout.test.ts and build/check-modules.test.ts stop waiting for one.
  longTest('rejects an action whose module never finishes loading, and changes nothing', async () => {
    await project.ok('migrate', { env })
    const file = 'src/todo/collection.ts'
    const text = await project.read(file)
    // Blocks like an endless loop, without using the processor.
    await project.write(file, `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)\n${text}`)
    const { code, stdout, stderr } = await project.run('deploy --yes', { env })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      /src\/todo\/collection\.ts:1:1 {2}Cannot load src\/todo\/collection\.ts: it took longer than 30 s/,
    )
    assert.match(stderr, /Error: The project has 1 error; nothing was changed/)
    await project.write(file, text)
    assert.equal((await planned()).plan.active, null)
  })

  it('reports by its exit code whether there are changes', async () => {
    await project.ok('migrate', { env })
    const first = await planned(' --detailed-exitcode')
    assert.deepEqual([first.code, first.plan.active, first.plan.activated], [3, null, false])
    assert.equal((await planned()).code, 0)

    const deployed = JSON.parse(await project.ok('deploy --yes --json --against none', { env })) as PlanJson
    assert.deepEqual([deployed.release, deployed.activated], [first.plan.release, true])

    const again = await planned(' --detailed-exitcode')
    assert.deepEqual([again.code, again.plan.active?.id], [0, deployed.release])
    assert.match(
      await project.ok('deploy --plan', { env: reading }),
      /is already active, but no server is running\. Nothing to do\./,
    )
    await project.edit('waypost.yml', 'routes:', 'rooutes:')
    assert.equal((await project.run('deploy --plan --detailed-exitcode', { env: reading })).code, 1)
    await project.edit('waypost.yml', 'rooutes:', 'routes:')
  })

  it('does not prompt without a terminal, and rejects breaking changes without confirmation', async () => {
    await project.edit('resources/schema.yml', 'required: [title, content]', 'required: [title]')
    await project.edit('resources/schema.yml', 'maxLength: 64', 'maxLength: 32')
    const plan = await project.ok('deploy --plan', { env: reading })
    assert.match(
      plan,
      /~ schema +Todo-Input +"title" maxLength 32, was 64, for POST \/todo,\s+PUT \/todo\/:todo_id +BREAKING/,
    )
    assert.match(plan, /"content" is now optional\n/)
    assert.match(plan, /1 changed; 1 breaks callers\. Nothing was changed/)

    const refused = await project.run('deploy', { env })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /1 change breaks callers and must be confirmed; nothing was changed/)
    assert.match(refused.stderr, /To confirm, add --yes to the command/)
    assert.equal((await planned()).plan.breaking, 1)

    const markdown = await project.ok('deploy --plan --markdown', { env: reading })
    assert.match(markdown, /^### Plan for .*\n/)
    assert.match(
      markdown,
      /\| ~ \| schema \| <code>Todo-Input<\/code> \| \*\*BREAKING\*\* "title" maxLength 32, was 64/,
    )
    assert.equal((await project.run('deploy --yes', { env })).code, 0)
  })

  it('rejects an empty release id', async () => {
    const { code, stderr } = await project.run(['deploy', '--plan', '--against', ''], { env: reading })
    assert.equal(code, 2)
    assert.match(stderr, /is not a release id/)
    assert.equal((await project.run('deploy --markdown', { env })).code, 2, 'of a plan only')
  })

  // In CI, test/project/deploy/plan.test.ts compares two folders.
  longTest('has the same release in another folder, with other clocks, orders and languages', async () => {
    const folder = path.join(path.dirname(project.folder), 'an other/deep folder')
    await mkdir(folder, { recursive: true })
    const names = (await readdir(project.folder)).toReversed()
    for (const name of names.filter((one) => !['node_modules', '.waypost'].includes(one))) {
      await cp(path.join(project.folder, name), path.join(folder, name), { recursive: true, preserveTimestamps: false })
    }
    await mkdir(path.join(folder, 'node_modules'))
    await symlink(checkout, path.join(folder, 'node_modules/waypost'))
    await utimes(path.join(folder, 'src/todo/insert.ts'), 1, 1)
    const other = openProject(folder, {}, () => rm(folder, { recursive: true }))
    const elsewhere = { ...reading, TZ: 'Pacific/Auckland', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' }
    const { release } = JSON.parse(await other.ok('deploy --plan --json', { env: elsewhere })) as PlanJson
    assert.equal(release, (await planned()).plan.release)
  })
})
