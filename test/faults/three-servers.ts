import assert from 'node:assert/strict'
import { addClient, addUser } from '../../src/auth/index.ts'
import { openSystem, type System } from '../../src/store/index.ts'
import { password } from '../auth/world.ts'
import { baseUrl, makeHost, secret, type Serving } from '../e2e/serving.ts'
import type { RunningCli } from '../support/cli.ts'
import { openLine, type Line } from '../support/line.ts'
import { startPostgres } from '../support/postgres.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { send, type Answer } from '../support/send.ts'
import { basic, bearer } from '../support/server.ts'
import { abortTimeoutMs } from '../support/until.ts'

export interface Token {
  readonly jwt: string
  readonly jti: string
  readonly refreshToken: string
  readonly headers: Readonly<Record<string, string>>
}

/** Three processes of `serve` on one PostgreSQL; the third reaches it over a line that can be broken. */
export interface ThreeServers {
  /** What a command sees that changes things beside the servers. */
  readonly system: System
  readonly servers: readonly [Serving, Serving, Serving]
  readonly line: Line
  readonly annId: string
  /** May use client_credentials and refresh_token, with the scope todo. */
  readonly client: { readonly id: string; readonly secret: string }
  /** A token of ann's and the client's, from the first server. */
  issue(): Promise<Token>
  /** A token that every server has in its cache. */
  issueKnown(): Promise<Token>
  /** Revokes a token by asking a server. */
  revoke(port: number, token: string): Promise<void>
  /** Changes something of ann's by asking a server, as ann with a token of hers from a login. */
  changeAsAnn(port: number, line: string, body?: unknown): Promise<void>
  ask(port: number, token: Token, path?: string): Promise<Answer>
  close(): Promise<void>
}

const routes = `routes:
  /who: { scopes: [todo], methods: { GET: { response: { type: object, additionalProperties: true }, action: src/who.ts } } }
  /hold: { methods: { GET: { public: true, response: { type: object, additionalProperties: true }, action: src/hold.ts } } }
  /let-go: { methods: { GET: { public: true, action: src/let-go.ts } } }
`
const who = `export default class Who {
  async handle(request, context) {
    return { name: context.principal.user.name }
  }
}
`
/** Keeps one of the connections that all actions share, until `/let-go` is asked for. */
const hold = `export default class Hold {
  async handle(request, context) {
    return context.transaction('System', async (db) => {
      await db.selectFrom('app_todo').select('id').limit(1).execute()
      await (globalThis.hold ??= Promise.withResolvers()).promise
      return {}
    })
  }
}
`
const letGo = `export default class LetGo {
  async handle() {
    globalThis.hold.resolve()
    return {}
  }
}
`

/**
 * Starts them; takes about five seconds.
 * @param count 2 leaves out the second one
 */
export async function startThreeServers(count: 2 | 3 = 3): Promise<ThreeServers> {
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  try {
    const postgres = await startPostgres()
    closers.push(() => postgres.stop())
    const url = await postgres.createSystem()
    await deploy(url, closers)
    const system = await openSystem({ url, poolSize: 40 })
    closers.push(() => system.close())
    const line = await openLine(url, 'listen waypost_feed')
    closers.push(() => line.close())
    const servers: Serving[] = []
    for (const one of [url, url, line.through(url)].slice(3 - count)) servers.push(await serve(one, closers))
    const people = await addPeople(system, servers[0]!.port)
    return {
      ...people,
      system,
      line,
      close,
      servers: servers as never,
      async issueKnown() {
        const token = await people.issue()
        for (const { port } of servers) {
          assert.equal((await people.ask(port, token)).status, 200)
          assert.equal((await people.ask(port, token)).status, 200)
        }
        return token
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

const environment = (url: string) => ({
  WAYPOST_SYSTEM_URL: url,
  WAYPOST_SECRET: secret,
  WAYPOST_BASE_URL: baseUrl,
  HOST: '127.0.0.1',
})

async function deploy(url: string, closers: (() => Promise<unknown>)[]): Promise<void> {
  const project: TestProject = await makeProject(environment(url))
  closers.push(project.remove)
  await project.edit('waypost.yml', 'routes:\n', routes)
  await project.write('src/who.ts', who)
  await project.write('src/hold.ts', hold)
  await project.write('src/let-go.ts', letGo)
  await project.ok('deploy --yes --migrate')
}

async function serve(url: string, closers: (() => Promise<unknown>)[]): Promise<Serving> {
  const host = await makeHost(environment(url))
  closers.push(host.remove)
  const running = host.start('serve --port 0')
  closers.push(() => stop(running))
  const [, port] = await running.waitFor(/Serving {4}http:\/\/localhost:(\d+)/)
  return { ...running, port: Number(port) }
}

async function stop(serving: RunningCli): Promise<void> {
  process.kill(serving.pid, 'SIGCONT') // a test that failed may have left it stopped
  const late = setTimeout(() => process.kill(serving.pid, 'SIGKILL'), abortTimeoutMs)
  const { code, stdout, stderr } = await serving.stop()
  clearTimeout(late)
  assert.equal(code, 0, `a server ended by ${code}\n${stdout}${stderr}`)
}

async function addPeople(system: System, port: number) {
  const ann = await addUser(system, { name: 'ann', password, scopes: ['consumer', 'todo'] })
  const added = await addClient(system, {
    name: 'app',
    user: 'ann',
    scopes: ['todo'],
    grants: ['client_credentials', 'refresh_token'],
    redirectUris: [],
    public: false,
  })
  const client = { id: added.id, secret: added.secret! }
  const post = (at: number, path: string, form: Readonly<Record<string, string>>) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const headers = { ...basic(client.id, client.secret), ...type }
    return send(at, { method: 'POST', path, headers, body: new URLSearchParams(form).toString() })
  }
  const issue = async (): Promise<Token> => {
    const { body, text } = await post(port, '/authorization/token', { grant_type: 'client_credentials' })
    assert.ok(body.access_token, text)
    const { jti } = JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString()) as { jti: string }
    return { jwt: body.access_token, jti, refreshToken: body.refresh_token, headers: bearer(body.access_token) }
  }
  return {
    annId: ann.id,
    client,
    issue,
    async revoke(at: number, token: string) {
      const answer = await post(at, '/authorization/revoke', { token })
      assert.equal(answer.status, 200, answer.text)
    },
    async changeAsAnn(at: number, line: string, body?: unknown) {
      const login = await send(at, { path: '/consumer/login', body: { username: 'ann', password } })
      assert.equal(login.status, 200, login.text)
      const [method = '', path = ''] = line.split(' ')
      const answer = await send(at, { method, path, headers: bearer(login.body.token), body })
      assert.ok(answer.status < 300, `${line}: ${answer.text}`)
    },
    ask: (at: number, token: Token, path = '/who') => send(at, { path, headers: token.headers }),
  }
}
