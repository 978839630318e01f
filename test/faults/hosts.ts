import assert from 'node:assert/strict'
import { addClient, addUser } from '../../src/auth/index.ts'
import { migrateSystem, openSystem, type System } from '../../src/store/index.ts'
import { password } from '../auth/world.ts'
import { baseUrl, makeHost, secret, startServe, type Serving } from '../e2e/serving.ts'
import type { EndedCli, RunningCli } from '../support/cli.ts'
import type { TestProject } from '../support/project.ts'
import { send, type Answer } from '../support/send.ts'
import { basic, bearer } from '../support/server.ts'
import { abortTimeoutMs } from '../support/until.ts'
import { nameRelease, writeProject } from './hosts-project.ts'

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
    const name = (release: string, to = project) => nameRelease(to, release)
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
  const late = setTimeout(() => process.kill(running.pid, 'SIGKILL'), abortTimeoutMs)
  const { code, stdout, stderr } = await running.stop()
  clearTimeout(late)
  assert.equal(code, 0, `a server ended by ${code}\n${stdout}${stderr}`)
}
