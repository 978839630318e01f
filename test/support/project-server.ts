import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe } from 'node:test'
import pino from 'pino'
import type { Clock } from '../../src/kit/index.ts'
import { openTestProject } from '../../src/project/index.ts'
import { activateRelease, findPathProblem, type StoredRelease } from '../../src/release/index.ts'
import {
  ensureTestUser,
  prepareTestHost,
  startServer,
  type ServerOptions,
  type WaypostServer,
} from '../../src/server/index.ts'
import { issueHostToken } from '../../src/operate/index.ts'
import { errorSerializers, openHost, openIdentity, type Host } from '../../src/host/index.ts'
import type { Kind } from './forms.ts'
import { answerChecks, type ReceivedAnswer } from './answer-checks.ts'
import { checkAnswersOf } from './described-answers.ts'
import { copySystem } from './migrated.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'
import { asCommand } from './server.ts'

export type Files = Readonly<Record<string, string>>

export interface ProjectServerOptions {
  /** The files of the project by path, including `waypost.yml`. */
  readonly files: Files
  /** System; a new SQLite file by default. */
  readonly systemUrl?: string
  readonly variables?: Readonly<Record<string, string>>
  readonly clock?: Clock
  /** Replaces what System says of itself, such as that it is one of development, which opens loopback addresses. */
  readonly identity?: { readonly isDevelopment: boolean }
  /** Check results, as in `dev`; false by default. */
  readonly isDevelopment?: boolean
  /** Keep the definition files with each activation, as `deploy` does. */
  readonly keepsFiles?: boolean
  readonly traffic?: ServerOptions['traffic']
  readonly onServerError?: NonNullable<ServerOptions['onServerError']>
  readonly onResponse?: NonNullable<ServerOptions['onResponse']>
}

/** A server for a project whose files a test defines. */
export interface ProjectServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly host: Host
  readonly server: WaypostServer
  readonly release: StoredRelease
  /** The server's log from level debug. */
  readonly logs: readonly Readonly<Record<string, unknown>>[]
  /** Replaces files of the project, deploys it and serves it. */
  deploy(files: Files): Promise<StoredRelease>
  /** Returns an Authorization header for a user, who is created if needed. */
  authorize(user: string, scopes: readonly string[]): Promise<{ authorization: string }>
}

/** Builds, migrates, activates and serves a project, all real. Disposal removes everything. */
export async function openProjectServer(options: ProjectServerOptions): Promise<ProjectServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-server-'))
  const closers: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const close = async () => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  const logs: Record<string, unknown>[] = []
  const logger = pino(
    { level: 'debug', serializers: errorSerializers },
    { write: (line) => void logs.push(JSON.parse(line)) },
  )
  try {
    await writeFiles(folder, options.files)
    const { systemUrl = 'sqlite:system.db' } = options
    await copySystem(systemUrl, folder)
    const host = await openHost({
      folder,
      variables: {
        WAYPOST_BASE_URL: 'http://localhost:3000',
        ...options.variables,
        WAYPOST_SYSTEM_URL: systemUrl,
      },
      create: true,
      unmigrated: true,
      disposable: true,
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    })
    closers.push(() => host.close())
    await prepareTestHost(host)
    const server = await startServer({
      host,
      identity: { ...(await openIdentity(host)), ...options.identity },
      logger,
      isDevelopment: options.isDevelopment ?? false,
      traffic: options.traffic,
      address: { host: '127.0.0.1', port: 0 },
      ...(options.onServerError === undefined ? {} : { onServerError: options.onServerError }),
      ...(options.onResponse === undefined ? {} : { onResponse: options.onResponse }),
    })
    closers.push(() => server.close())
    /** The release that is served, and the one that is about to be. */
    let served: readonly ReturnType<typeof checkAnswersOf>[] = []
    answerChecks.set(server.port, () => {
      const before = served
      return (answer) => checkAnswer([...new Set([...before, ...served])], answer)
    })
    closers.push(async () => void answerChecks.delete(server.port))
    const loadDocument = async () => {
      const response = await fetch(`http://127.0.0.1:${server.port}/openapi.json`)
      return response.ok ? response.json() : undefined
    }
    let all = options.files
    const deploy = async (files: Files) => {
      await writeFiles(folder, files)
      const { stored, artifacts } = await (await openTestProject(folder)).install(host)
      all = { ...all, ...files }
      if (options.keepsFiles) {
        const kept = Object.entries(all).filter(([file]) => findPathProblem(file) === undefined)
        const built = { manifest: stored.manifest, artifacts }
        await activateRelease(host.system, built, {
          by: 'test',
          files: kept.map(([file, content]) => ({ path: file, content })),
        })
      }
      const check = checkAnswersOf(stored, loadDocument)
      served = [...served, check]
      await server.serveRelease(stored, { artifacts })
      served = [check]
      return stored
    }
    return {
      url: `http://127.0.0.1:${server.port}`,
      port: server.port,
      host,
      server,
      logs,
      release: await deploy({}),
      deploy,
      async authorize(user, scopes) {
        await ensureTestUser(server, user, scopes)
        const { access_token: token } = await issueHostToken(asCommand(host), { user, scopes, expires: undefined })
        return { authorization: `Bearer ${token}` }
      },
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Checks an answer by the description of the release that served it. */
async function checkAnswer(releases: readonly ReturnType<typeof checkAnswersOf>[], answer: ReceivedAnswer) {
  const checks = await Promise.allSettled(releases.map((check) => check(answer)))
  const [first] = checks.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
  if (first !== undefined && !checks.some(({ status }) => status === 'fulfilled')) throw first.reason
}

export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.join(folder, path.dirname(file)), { recursive: true })
    await writeFile(path.join(folder, file), text)
  }
}

/** Returns the source of an action with this body of `handle(request, context)`. */
export function actionFile(body: string, head = ''): string {
  return `${head}\nexport default class Sample {\n  async handle(request: any, context: any): Promise<any> {\n${body}\n  }\n}\n`
}

interface Suite {
  readonly kind: 'sqlite' | 'postgresql'
  /** Returns the URL of a new System; on SQLite a file in the server's folder, which `copySystem` creates. */
  newSystem(): Promise<string>
}

/** Declares the same tests on SQLite and PostgreSQL. */
export function describeEachSystem(name: string, declare: (suite: Suite) => void): void {
  describeSystems(name, ['sqlite', 'postgresql'], declare)
}

/** Declares the same tests on some databases, for example those of `chooseKinds`. */
export function describeSystems(name: string, kinds: readonly Kind[], declare: (suite: Suite) => void): void {
  if (kinds.includes('sqlite'))
    describe(`${name}, sqlite`, () => declare({ kind: 'sqlite', newSystem: async () => 'sqlite:system.db' }))
  if (!kinds.includes('postgresql')) return
  describe(`${name}, postgresql`, () => {
    let postgres: TestPostgres
    before(async () => {
      postgres = await startPostgres()
    })
    after(() => postgres.stop())
    declare({ kind: 'postgresql', newSystem: () => postgres.createSystem() })
  })
}
