import type { DatabaseKind } from '../../src/contract/index.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import { addUser, type NewClient } from '../../src/auth/index.ts'
import { makeVisitor } from '../auth/authorize/visitor.ts'
import { openWorld, password, type Credentials, type World } from '../auth/world.ts'

/** Where the confidential client of these tests is given its codes. */
export const callback = 'https://app.example.com/callback'

/** A server whose issuer is the address that it is reached at, as clients that discover it insist. */
export interface ClientWorld extends World {
  /** `http://127.0.0.1:PORT` */
  readonly issuer: string
  /** Of bob: may use every grant but the password, with note and todo; its secret has characters that encode. */
  readonly web: Credentials
  /** Of bob, without a secret: an app on the user's machine, at any port of 127.0.0.1. */
  readonly native: Pick<Credentials, 'id'>
  addClient(client: Partial<NewClient>): Promise<Credentials>
  /** Opens an address of the server as ann's browser, logs in, decides, and says where the browser is sent to then. */
  browse(url: URL | string, decision?: 'allow' | 'deny'): Promise<URL>
}

/** @param config the release's settings */
export async function openClientWorld(
  kind: DatabaseKind,
  config: Readonly<Record<string, unknown>> = {},
): Promise<ClientWorld> {
  const door = await openDoor()
  const world = await openWorld(kind, { baseUrl: door.url, config })
  door.leadTo(Number(new URL(world.url).port))
  const close = async () => {
    await world.close()
    await door.close()
  }
  // Their owner is bob, so that ann is asked.
  await addUser(world.system, { name: 'bob', password, scopes: ['note', 'todo'] })
  const shared = { user: 'bob', scopes: ['note', 'todo'] }
  const grants = ['authorization_code', 'client_credentials', 'refresh_token']
  return {
    ...world,
    issuer: door.url,
    web: await addWithMarks(world, { ...shared, name: 'web', grants, redirectUris: [callback] }),
    native: await world.addClient({
      ...shared,
      name: 'native',
      public: true,
      grants: ['authorization_code', 'refresh_token'],
      redirectUris: ['http://127.0.0.1/callback'],
    }),
    browse: (url, decision = 'allow') => browse(world, new URL(url), decision),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Secrets are base64url: some clients send its two marks percent-encoded, so that no test must do without them. */
async function addWithMarks(world: World, client: Partial<NewClient>): Promise<Credentials> {
  for (;;) {
    const added = await world.addClient(client)
    if (/-/.test(added.secret) && /_/.test(added.secret)) return added
  }
}

async function browse(world: World, url: URL, decision: 'allow' | 'deny'): Promise<URL> {
  const visitor = makeVisitor(world)
  const login = await visitor.send(`GET ${url.pathname}${url.search}`)
  assert.equal(login.status, 200, login.headers.get('location') ?? login.text)
  const next = await visitor.logIn(login)
  // A page asks for consent; what was allowed before is not asked again.
  const answer = next.status === 200 ? await visitor.submit(next, 'consent', { decision }) : next
  assert.equal(answer.status, 303, answer.text)
  return new URL(answer.headers.get('location') ?? '')
}

/** A port that is known before the server behind it: System stores the issuer before anything listens. */
async function openDoor(): Promise<{ url: string; leadTo(port: number): void; close(): Promise<void> }> {
  let target = 0
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const)
      pipeline(from, to, () => undefined)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo(port) {
      target = port
    },
    async close() {
      server.close()
      await once(server, 'close')
    },
  }
}
