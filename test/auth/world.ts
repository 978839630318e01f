import type { DatabaseKind } from '../../src/contract/index.ts'
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { describeConsumer } from '../../src/consumer/mount-consumer.ts'
import { addClient, addUser, type NewClient } from '../../src/auth/index.ts'
import { recordChanges, type Change, type System } from '../../src/store/index.ts'
import { makeAnswerCheck } from '../support/described-answers.ts'
import { basic, startTestServer, type TestAnswer, type TestRequest, type TestServer } from '../support/server.ts'

export const password = 'correct horse battery'

export interface Credentials {
  readonly id: string
  readonly secret: string
}

/** A server with the user ann, who has consumer, note and todo, and clients of ann. */
export interface World extends TestServer {
  readonly system: System
  readonly annId: string
  /** May use client_credentials and refresh_token, with note and todo. */
  readonly app: Credentials
  /** The same, for requests that must not reach the tokens of the first one. */
  readonly other: Credentials
  /** A public client; may use refresh_token. */
  readonly publicId: string
  addClient(client: Partial<NewClient>): Promise<Credentials>
  /** Requests the token endpoint as a client, with Basic. */
  token(client: Credentials, form: Readonly<Record<string, string>> | string): Promise<TestAnswer>
  logIn(request?: TestRequest): Promise<TestAnswer>
}

/** All responses to users are what `/consumer/openapi.json` describes. */
const checkDescribed = makeAnswerCheck(describeConsumer())

export async function openWorld(
  kind: DatabaseKind,
  options: Omit<Parameters<typeof startTestServer>[0], 'kind'> = {},
): Promise<World> {
  const server = await startTestServer({ kind, ...options })
  try {
    const { system } = server.host
    const ann = await addUser(system, { name: 'ann', password, scopes: ['consumer', 'note', 'todo'] })
    const add = async (client: Partial<NewClient>): Promise<Credentials> => {
      const { id, secret = '' } = await addClient(system, {
        name: 'app',
        user: 'ann',
        scopes: ['note', 'todo'],
        grants: ['client_credentials', 'refresh_token'],
        redirectUris: [],
        public: false,
        ...client,
      })
      return { id, secret }
    }
    const known: string[] = [password]
    const send = async (line: string, request?: TestRequest) => {
      const answer = await server.send(line, request)
      assertDiscreet(answer, known)
      const [method = '', path = ''] = line.split(' ')
      checkDescribed({ ...answer, method, path, headers: Object.fromEntries(answer.headers) })
      return answer
    }
    const app = await add({})
    const other = await add({ name: 'other' })
    known.push(app.secret, other.secret)
    return {
      ...server,
      system,
      send,
      annId: ann.id,
      app,
      other,
      publicId: (await add({ name: 'spa', public: true })).id,
      addClient: add,
      token: (client, form) => send('POST /authorization/token', { headers: basic(client.id, client.secret), form }),
      logIn: (request = { json: { username: 'ann', password } }) => send('POST /consumer/login', request),
    }
  } catch (error) {
    await server.close()
    throw error
  }
}

/** No response contains a secret that the caller sent, a stack, SQL or a path of the server. */
export function assertDiscreet({ text, headers }: TestAnswer, secrets: readonly string[]): void {
  const everything = [text, ...[...headers].map(([name, value]) => `${name}: ${value}`)].join('\n')
  for (const secret of secrets) assert.ok(!everything.includes(secret), `a secret in ${everything}`)
  assert.doesNotMatch(everything, /\n\s+at |node_modules|\.ts:\d|waypost_|argon2|SQLITE|file:\/\//, everything)
}

/** Changes rows and records the change in the feed, as administration commands do. */
export async function change(
  system: System,
  changes: readonly Change[],
  work: (trx: Parameters<Parameters<System['transaction']>[0]>[0]) => Promise<unknown>,
): Promise<void> {
  await system.transaction(async (trx) => {
    await work(trx)
    await recordChanges(system, trx, changes)
  })
}

/** Disables or enables a user or a client. */
export function setStatus(
  system: System,
  what: 'user' | 'client',
  { id, status }: { id: string; status: 'active' | 'disabled' },
): Promise<void> {
  return change(system, [{ kind: what, subject: id }], (trx) =>
    trx
      .updateTable(what === 'user' ? 'waypost_user' : 'waypost_client')
      .set({ status })
      .where('id', '=', id)
      .execute(),
  )
}

/** Counts the statements on this database of PostgreSQL that wait for a lock. */
export async function countWaiting({ system }: Pick<World, 'system'>): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`
    select cast(count(*) as int) as waiting from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database()`.execute(system.db)
  return rows[0]!.waiting
}
