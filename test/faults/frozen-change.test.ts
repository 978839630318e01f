// A server that freezes (SIGSTOP) while it holds the change feed's lock keeps nobody else from answering.
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { addClient } from '../../src/auth/index.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { isFrozen } from '../support/freeze.ts'
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

  const countWaiting = async () => {
    const { rows } = await sql<{ count: string }>`select count(*) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(server.host.system.guardDb)
    return Number(rows[0]!.count)
  }

  test('other servers still respond while changes wait for its lock', async () => {
    const headers = { authorization: `Bearer ${await issue()}` }
    const tokens = await Promise.all(Array.from({ length: many }, issue))
    const locked = Promise.withResolvers<void>()
    const done = Promise.withResolvers<void>()
    const holding = server.host.system.guardDb.transaction().execute(async (transaction) => {
      await sql`select position from waypost_feed_head for update`.execute(transaction)
      locked.resolve()
      await done.promise
    })
    await locked.promise
    const revocations = tokens.map((token) => revoke(server.port, token))
    await until('several changes wait for the lock', async () => (await countWaiting()) > 3)
    for (let count = 0; count < 25; count++) {
      assert.equal((await send(server.port, { path: '/count', headers })).status, 200)
    }
    done.resolve()
    await holding
    await Promise.all(revocations)
  })

  test('other servers make their changes when PostgreSQL has ended its transaction', async () => {
    const [held, ...tokens] = await Promise.all(Array.from({ length: many + 1 }, issue))
    const armed = once(child, 'message')
    child.send({ stopAt: '^commit' } satisfies Order)
    await armed
    const lost = revoke(childPort, held!).catch(() => undefined)
    await until('it is frozen', () => isFrozen(child.pid!))
    const statuses = await Promise.all(tokens.map(async (token) => (await revoke(server.port, token)).status))
    assert.deepEqual(new Set(statuses), new Set([200]))
    child.kill('SIGCONT')
    await lost
  })
})
