import type { DatabaseKind } from '../../src/contract/index.ts'
import { addUser, loginClientId } from '../../src/auth/index.ts'
import { openWorld, password, type Credentials, type World } from '../auth/world.ts'
import { bearer, type TestAnswer, type TestRequest } from '../support/server.ts'

/** A logged-in user. */
export interface Person {
  readonly name: string
  readonly id: string
  readonly token: string
  readonly refreshToken: string
  /** Sends a request with the user's token. */
  send(line: string, json?: unknown): Promise<TestAnswer>
}

/** A world with bob besides ann, who has a client that uses the password grant. */
export interface People extends World {
  readonly bobId: string
  /** Owned by bob; may use the grants password and refresh_token, with consumer and todo. */
  readonly foreign: Credentials
  /** Logs in; adds the user if necessary. */
  come(name: string, scopes?: readonly string[]): Promise<Person>
  /** Returns what the third-party client gets for a user's password. */
  lend(name: string): Promise<{ token: string; refreshToken: string }>
  /** Requests a private route with a token. @returns the status */
  use(token: string, path?: string): Promise<number>
  /** Renews a login with some of its scopes. @returns requests with that token */
  narrow(person: Person, scope: string): Promise<Person['send']>
}

export async function openPeople(kind: DatabaseKind, options: Parameters<typeof openWorld>[1] = {}): Promise<People> {
  const world = await openWorld(kind, options)
  const bob = await addUser(world.system, { name: 'bob', password, scopes: ['consumer', 'todo'] })
  const grants = ['password', 'refresh_token']
  const foreign = await world.addClient({ name: 'Foreign', user: 'bob', scopes: ['consumer', 'todo'], grants })
  return {
    ...world,
    bobId: bob.id,
    foreign,
    async come(name, scopes = ['consumer', 'note', 'todo']) {
      const known = await world.system.db.selectFrom('waypost_user').select('id').where('name', '=', name).execute()
      const id = known[0]?.id ?? (await addUser(world.system, { name, password, scopes })).id
      const { body } = await world.logIn({ json: { username: name, password } })
      return { name, id, token: body.token, refreshToken: body.refresh_token, send: sendAs(world, body.token) }
    },
    async lend(name) {
      const { body } = await world.token(foreign, { grant_type: 'password', username: name, password })
      return { token: body.access_token, refreshToken: body.refresh_token }
    },
    use: async (token, path = '/todo') => (await world.send(`GET ${path}`, { headers: bearer(token) })).status,
    async narrow({ refreshToken }, scope) {
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: loginClientId, scope }
      return sendAs(world, (await world.send('POST /authorization/token', { form })).body.access_token)
    },
  }
}

/** Makes requests with a token. */
export function sendAs(world: Pick<World, 'send'>, token: string) {
  return (line: string, json?: unknown): Promise<TestAnswer> => {
    const request: TestRequest = { headers: bearer(token), ...(json === undefined ? {} : { json }) }
    return world.send(line, request)
  }
}
