import assert from 'node:assert/strict'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { addClient, addUser } from '../../src/auth/index.ts'
import { migrateSystem, openSystem, type System } from '../../src/store/index.ts'
import { password } from '../auth/world.ts'
import { baseUrl, makeHost, secret, startServe, type Serving } from '../e2e/serving.ts'
import type { EndedCli, RunningCli } from '../support/cli.ts'
import { linkDependencies, openProject, type TestProject } from '../support/project.ts'
import { send, type Answer } from '../support/send.ts'
import { basic, bearer } from '../support/server.ts'

type Variables = Readonly<Record<string, string>>

/** A project whose every route tells of which release it is, and processes of `serve` on one PostgreSQL. */
export interface Hosts extends AsyncDisposable {
  /** PostgreSQL itself, whatever stands between it and the servers. */
  readonly system: System
  readonly project: TestProject
  /** The same project in another folder. */
  copyProject(): Promise<TestProject>
  /** Where servers and workers run: a folder without a project. */
  readonly host: TestProject
  /** Gives the sources a name that their routes tell. */
  name(release: string, project?: TestProject): Promise<void>
  /** Names, deploys by the built command line, and fails when that does. @returns what it printed as JSON */
  deploy(release: string, words?: string, env?: Variables): Promise<DeployedJson>
  /** Starts `serve` and waits until it listens; it ends with the site, and fails it when it ends otherwise than in order. */
  serve(env?: Variables, words?: string): Promise<Serving>
  /** Makes the user ann and a client of hers. @param scopes consumer and todo by default */
  addPeople(scopes?: readonly string[]): Promise<People>
  /** Ends a process of which nothing is expected any more. */
  kill(process: RunningCli): Promise<EndedCli>
}

export interface DeployedJson {
  readonly release: string
  readonly activated: boolean
  readonly servers: readonly { readonly name: string; readonly state: string }[]
}

export interface People {
  /** The client, for commands. */
  readonly variables: Variables
  /** Asks a server for a token of the client's. */
  ask(port: number): Promise<Answer>
  /** The headers of one. */
  issue(port: number): Promise<Readonly<Record<string, string>>>
}

export interface HostsOptions {
  /** A new database. */
  readonly url: string
  /** Beside what every process needs, or in its place. */
  readonly env?: Variables
  /** Leave the database as it is. */
  readonly isEmpty?: boolean
}

const stopLimitMs = 30_000

const yml = `routes:
  /version: { methods: { GET: { public: true, response: Any, action: src/version.ts } } }
  /slow: { methods: { GET: { public: true, response: Any, action: src/slow.ts } } }
  /echo: { methods: { POST: { public: true, response: Any, action: src/echo.ts } } }
  /stored: { methods: { GET: { public: true, response: Any, action: src/stored.ts } } }
  /own: { scopes: [todo], methods: { GET: { response: Any, action: src/version.ts } } }
  /note: { methods: { POST: { public: true, response: Any, action: src/note.ts } } }
schema:
  Any: { type: object, additionalProperties: true }
event:
  noted: { description: Something was noted, schema: Any, scopes: [todo] }
config:
  delivery_allow: [127.0.0.1/32]
`
const actionFile = (body: string) => `import { release } from './release.ts'
export default class Told {
  async handle(request, context) {
    ${body}
  }
}
`
const actions: Readonly<Record<string, string>> = {
  version: 'return { release }',
  slow: 'await new Promise((resolve) => setTimeout(resolve, 150)); return { release }',
  echo: 'return { release, text: request.body.text }',
  stored: `const { id } = await context.connection('System').selectFrom('waypost_active').select('id').executeTakeFirstOrThrow()
    return { release, id }`,
  note: `await context.dispatch('noted', { release }); return { release }`,
}
/** A server that is told so never gets so far as to serve a release that is named as it is told. */
const releaseFile = (name: string) => `export const release = '${name}'
if (process.env.STAYS_BEFORE === release) await new Promise((resolve) => setTimeout(resolve, 2 ** 30))
`

/** Migrates the database; nothing is deployed yet. */
export async function openHosts({ url, env = {}, isEmpty = false }: HostsOptions): Promise<Hosts> {
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  const environment = {
    WAYPOST_SYSTEM_URL: url,
    WAYPOST_SECRET: secret,
    WAYPOST_BASE_URL: baseUrl,
    HOST: '127.0.0.1',
    ...env,
  }
  const killed = new Set<number>()
  try {
    const system = await openSystem({ url })
    closers.push(() => system.close())
    if (!isEmpty) await migrateSystem(system)
    const makeProject = async () => {
      const made = await writeProject(environment)
      closers.push(made.remove)
      return made
    }
    const project = await makeProject()
    const host = await makeHost(environment)
    closers.push(host.remove)
    const name = (release: string, to = project) => to.write('src/release.ts', releaseFile(release))
    return {
      system,
      project,
      copyProject: makeProject,
      host,
      name,
      async deploy(release, words = '', env = {}) {
        await name(release)
        const printed = await project.ok(`deploy --yes --json ${words}`.trim(), { env })
        return JSON.parse(printed) as DeployedJson
      },
      async serve(more = {}, words = '') {
        const start: TestProject['start'] = (own) => host.start(`${String(own)} ${words}`.trim(), { env: more })
        const serving = await startServe({ ...host, start })
        closers.push(() => (killed.has(serving.pid) ? serving.ended : stop(serving)))
        return serving
      },
      addPeople: (scopes = ['consumer', 'todo']) => addPeople(system, scopes),
      kill(running) {
        killed.add(running.pid)
        process.kill(running.pid, 'SIGKILL')
        return running.ended
      },
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function writeProject(environment: Variables): Promise<TestProject> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-e2e-hosts-')))
  const project = openProject(folder, environment, () => rm(folder, { recursive: true, force: true }))
  await linkDependencies(folder)
  await project.write('package.json', '{ "name": "hosts", "type": "module", "dependencies": { "waypost": "*" } }')
  await project.write('waypost.yml', yml)
  for (const [file, body] of Object.entries(actions)) await project.write(`src/${file}.ts`, actionFile(body))
  return project
}

async function addPeople(system: System, scopes: readonly string[]): Promise<People> {
  await addUser(system, { name: 'ann', password, scopes })
  const more = { grants: ['client_credentials' as const], redirectUris: [], public: false }
  const { id, secret } = await addClient(system, { name: 'app', user: 'ann', scopes, ...more })
  const headers = { ...basic(id, secret!), 'content-type': 'application/x-www-form-urlencoded' }
  const ask = (port: number) =>
    send(port, { method: 'POST', path: '/authorization/token', headers, body: 'grant_type=client_credentials' })
  return {
    variables: { WAYPOST_CLIENT_ID: id, WAYPOST_CLIENT_SECRET: secret! },
    ask,
    async issue(port) {
      const { body, text } = await ask(port)
      assert.ok(body.access_token, text)
      return bearer(body.access_token)
    },
  }
}

async function stop(running: RunningCli): Promise<void> {
  const late = setTimeout(() => process.kill(running.pid, 'SIGKILL'), stopLimitMs)
  const { code, stdout, stderr } = await running.stop()
  clearTimeout(late)
  assert.equal(code, 0, `a server ended by ${code}\n${stdout}${stderr}`)
}
