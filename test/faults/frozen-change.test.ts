// A server that freezes (SIGSTOP) while it holds the change feed's lock keeps nobody else from answering.
import assert from 'node:assert/strict'
import { execFileSync, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { addClient } from '../../src/auth/index.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { send, type Answer } from '../support/send.ts'
import { basic } from '../support/server.ts'
import { until } from '../support/until.ts'
import type { Order } from './mortal-server.ts'

const files = {
  'waypost.yml': 'routes: { /count: { scopes: [todo], methods: { GET: { action: src/count.ts } } } }\n',
  'src/count.ts': actionFile(
    `return context.connection('System').selectNoFrom((one) => one.val(1).as('one')).executeTakeFirstOrThrow()`,
  ),
}
/** More than a server has connections. */
const many = 12

describe('a server that is frozen while it records a change, on postgresql', () => {
  let postgres: TestPostgres
  let server: ProjectServer
  let child: ChildProcess
  let childPort: number
  let client: { id: string; secret: string }
  before(async () => {
    postgres = await startPostgres()
    const systemUrl = await postgres.createSystem()
    const WAYPOST_SECRET = 'a secret for a test of at least 32 characters'
    server = await openProjectServer({ files, systemUrl, variables: { WAYPOST_SECRET } })
    child = fork(path.join(import.meta.dirname, 'mortal-server.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const { folder, variables } = server.host
    child.send({ folder, variables } satisfies Order)
    childPort = ((await once(child, 'message')) as [{ port: number }])[0].port
    await server.authorize('ann', ['todo'])
    const { id, secret = '' } = await addClient(server.host.system, {
      name: 'app',
      user: 'ann',
      scopes: ['todo'],
      grants: ['client_credentials'],
      redirectUris: [],
      public: false,
    })
    client = { id, secret }
  })
  after(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    await server[Symbol.asyncDispose]()
    await postgres.stop()
  })

  const post = (port: number, to: string, form: Record<string, string>): Promise<Answer> =>
    send(port, {
      method: 'POST',
      path: `/authorization/${to}`,
      headers: { ...basic(client.id, client.secret), 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    })
  const issue = async () =>
    (await post(server.port, 'token', { grant_type: 'client_credentials' })).body.access_token as string
  const revoke = (port: number, token: string) => post(port, 'revoke', { token })
  const isFrozen = async () =>
    execFileSync('ps', ['-o', 'state=', '-p', String(child.pid)], { encoding: 'utf8' })[0] === 'T'

  const countWaiting = async () => {
    const { rows } = await sql<{ count: string }>`select count(*) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(server.host.system.guardDb)
    return Number(rows[0]!.count)
  }

  test('other servers still respond, and make their changes when PostgreSQL has ended its transaction', async (t) => {
    const headers = { authorization: `Bearer ${await issue()}` }
    const [held, ...tokens] = await Promise.all(Array.from({ length: many + 1 }, issue))
    const armed = once(child, 'message')
    child.send({ stopAt: '^commit' } satisfies Order)
    await armed
    const lost = revoke(childPort, held!).catch(() => undefined)
    await until('it is frozen', isFrozen)

    const began = performance.now()
    const took: number[] = []
    const revocations = tokens.map(async (token) => {
      const { status } = await revoke(server.port, token)
      took.push(performance.now() - began)
      return status
    })
    await until('several changes wait for its lock', async () => (await countWaiting()) > 3)
    const statuses: number[] = []
    const times: number[] = []
    const ask = async () => {
      while (took.length === 0) {
        const start = performance.now()
        statuses.push((await send(server.port, { path: '/count', headers })).status)
        times.push(performance.now() - start)
        await pause(10)
      }
    }
    await Promise.all([ask(), ask(), ask(), ask()])
    assert.deepEqual(new Set(await Promise.all(revocations)), new Set([200]))
    child.kill('SIGCONT')
    await lost
    times.sort((a, b) => a - b)
    const [median, latest] = [times[times.length >> 1], times.at(-1)].map((ms) => ms?.toFixed(0))
    t.diagnostic(
      `revocations took ${Math.max(...took).toFixed(0)} ms; ${times.length} requests: p50 ${median} ms, max ${latest} ms`,
    )
    assert.deepEqual(new Set(statuses), new Set([200]))
    assert.ok(statuses.length > 20, `${statuses.length} requests were answered while changes waited`)
  })
})
