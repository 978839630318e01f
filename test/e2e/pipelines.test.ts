// The scripts of the pipelines that `init --with github,gitlab` writes, run by a shell against a server. What they ask npm
// for is there already, and so is no repository of git.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { parse } from 'yaml'
import { addClient, addUser } from '../../src/auth/index.ts'
import { checkout, cleanEnvironment, type EndedCli } from '../support/cli.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { makeSystem, type NewSystem } from './new-system.ts'
import { startServe, type Serving } from './serving.ts'
import { longTest } from '../support/forms.ts'

type Env = Readonly<Record<string, string>>

const commands: Env = {
  npm: 'true',
  npx: `shift; exec "${process.execPath}" "${path.join(checkout, 'bin/run.js')}" "$@"`,
  git: 'echo "Add content"',
}

describe('the pipelines of init', { concurrency: 1 }, () => {
  const closers: (() => Promise<unknown>)[] = []
  let system: NewSystem
  let serving: Serving
  let project: TestProject
  let planner: Env
  let deployer: Env

  before(async () => {
    system = await makeSystem('sqlite')
    closers.push(system.close)
    planner = await makeClient('plan', ['backend.read'])
    deployer = await makeClient('deploy', ['backend.read', 'backend.deploy'])
    serving = await startServe(system.folder)
    closers.push(() => serving.stop())
    project = await makeProject()
    closers.push(project.remove)
    await project.ok('init --with github,gitlab')
    await mkdir(path.join(project.folder, 'bin'))
    for (const [name, script] of Object.entries(commands)) {
      const file = path.join(project.folder, 'bin', name)
      await writeFile(file, `#!/bin/sh\n${script}\n`)
      await chmod(file, 0o755)
    }
  })
  after(async () => {
    for (const close of closers.toReversed()) await close()
  })

  /** As the head of the pipelines says: a user and a client of its own. */
  async function makeClient(name: string, scopes: readonly string[]): Promise<Env> {
    const { system: store } = system.host
    await addUser(store, { name, scopes })
    const client = { name, user: name, scopes, grants: ['client_credentials'], redirectUris: [], public: false }
    const { id, secret = '' } = await addClient(store, client)
    return { id, secret }
  }

  function run(script: string, env: Env): Promise<EndedCli> {
    const all = cleanEnvironment({ ...env, WAYPOST_URL: `http://127.0.0.1:${serving.port}` })
    const options = { cwd: project.folder, env: { ...all, PATH: `${project.folder}/bin:${all['PATH']}` } }
    return new Promise((resolve) => {
      execFile('sh', ['-e', '-c', script], options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : (error.code ?? String(error.signal)), stdout, stderr })
      })
    })
  }

  it('of GitHub show a plan, and deploy the release that it was made against', async () => {
    const { jobs } = parse(await project.read('.github/workflows/waypost.yml')) as Workflow
    const scriptOf = (job: string) => jobs[job]!.steps.find(({ run = '' }) => run.includes('waypost deploy'))!.run!
    const credentials = ({ id, secret }: Env): Env => ({ WAYPOST_CLIENT_ID: id!, WAYPOST_CLIENT_SECRET: secret! })

    const files = { GITHUB_OUTPUT: 'output.txt', GITHUB_STEP_SUMMARY: 'summary.md' }
    const plan = await run(scriptOf('plan'), { ...files, ...credentials(planner) })
    assert.equal(plan.code, 0, plan.stderr)
    assert.equal(await project.read('output.txt'), 'active=none\n')
    assert.match(await project.read('summary.md'), /<code>GET \/todo<\/code>/)

    const refused = await run(scriptOf('deploy'), { ACTIVE: 'none', ...credentials(planner) })
    assert.match(refused.stderr, /requires backend\.deploy/)
    assert.equal(refused.code, 1)
    await project.edit('waypost.yml', 'event:\n', 'event:\n  everyone: {}\n')
    const unattended = await run(scriptOf('deploy'), { ACTIVE: 'none', CONFIRM: '', ...credentials(deployer) })
    assert.match(unattended.stderr, /A new warning about access must be accepted: .*\n[^]*To accept it, add --yes/)
    assert.equal(unattended.code, 1)
    const confirmed = { ACTIVE: 'none', CONFIRM: '--yes', ...credentials(deployer) }
    const deployed = await run(scriptOf('deploy'), confirmed)
    assert.equal(deployed.code, 0, deployed.stderr)
    assert.match(deployed.stdout, / {2}Migrated {3}System\/[^]* {2}Activated {2}[^]* {2}Serving /)
  })

  // In CI, that of GitHub runs the same commands.
  longTest('of GitLab do the same, and not after another deployment', async () => {
    const jobs = parse(await project.read('.gitlab-ci.yml')) as Record<'plan' | 'deploy', { script: string[] }>
    const plan = await run(jobs.plan.script.join('\n'), credentials('PLAN', planner))
    assert.equal(plan.code, 0, plan.stderr)
    const active = /^ACTIVE=([0-9a-f]{64})\n$/.exec(await project.read('plan.env'))?.[1] ?? ''
    assert.match(await project.read('plan.md'), /Nothing to do/)

    const deploy = () => {
      const env = { ACTIVE: active, CI_COMMIT_TITLE: 'Other words', ...credentials('DEPLOY', deployer) }
      return run(jobs.deploy.script.join('\n'), env)
    }
    await project.edit('src/todo/collection.ts', 'const itemsPerPage = 16', 'const itemsPerPage = 7')
    const deployed = await deploy()
    assert.equal(deployed.code, 0, deployed.stderr)
    await project.edit('src/todo/collection.ts', 'const itemsPerPage = 7', 'const itemsPerPage = 8')
    const late = await deploy()
    assert.match(late.stderr, /The active release is [0-9a-f]{8}, not /)
    assert.equal(late.code, 1)
  })

  function credentials(whose: 'PLAN' | 'DEPLOY', { id, secret }: Env): Env {
    return { [`WAYPOST_${whose}_CLIENT_ID`]: id!, [`WAYPOST_${whose}_CLIENT_SECRET`]: secret! }
  }
})

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>
}
