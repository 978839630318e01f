import type { DatabaseKind } from '../../src/contract/index.ts'
import { gzipSync } from 'node:zlib'
import { addUser } from '../../src/auth/index.ts'
import { sha256, version } from '../../src/kit/index.ts'
import type { BuiltRelease, Manifest, ManifestMethod } from '../../src/release/index.ts'
import { openWorld, password, type Credentials, type World } from '../auth/world.ts'
import { emptyManifest } from '../release/system.ts'
import { bearer, type TestAnswer } from '../support/server.ts'

/** Sends a request of the deployment protocol; bodies are compressed with gzip. */
export type Call = (line: string, body?: unknown) => Promise<TestAnswer>

/** A world with bo, an administrator with clients for deploying and for planning. */
export interface Deployers extends World {
  readonly boId: string
  readonly deployClient: Credentials
  readonly planClient: Credentials
  /** Has backend.read and backend.deploy. */
  readonly deploy: Call
  /** Has them too, as another client. */
  readonly deployOther: Call
  addDeployClient(name: string): Promise<Credentials>
  /** Has backend.read. */
  readonly plan: Call
  /** Has the scope todo. */
  readonly stranger: Call
  /** Has no token. */
  readonly nobody: Call
}

export async function openDeployers(
  kind: DatabaseKind,
  options: Parameters<typeof openWorld>[1] = {},
): Promise<Deployers> {
  const world = await openWorld(kind, options)
  const scopes = ['backend.read', 'backend.deploy', 'todo']
  const bo = await addUser(world.system, { name: 'bo', password, scopes })
  const add = (name: string, own: readonly string[]) =>
    world.addClient({ name, user: 'bo', scopes: own, grants: ['client_credentials'] })
  const addDeployClient = (name: string) => add(name, ['backend.read', 'backend.deploy'])
  const deployClient = await addDeployClient('pipeline')
  const planClient = await add('planner', ['backend.read'])
  const todoClient = await add('stranger', ['todo'])
  const callAs = async (client: Credentials): Promise<Call> => {
    const { body } = await world.token(client, { grant_type: 'client_credentials' })
    return (line, json) => call(world, line, { token: body.access_token, json })
  }
  return {
    ...world,
    boId: bo.id,
    deployClient,
    planClient,
    deploy: await callAs(deployClient),
    deployOther: await callAs(await addDeployClient('other pipeline')),
    addDeployClient,
    plan: await callAs(planClient),
    stranger: await callAs(todoClient),
    nobody: (line, json) => call(world, line, { json }),
  }
}

async function call(
  { url }: World,
  line: string,
  { token, json }: { token?: string; json: unknown },
): Promise<TestAnswer> {
  const [method = '', target = ''] = line.split(' ')
  const response = await fetch(url + target, {
    method,
    redirect: 'manual',
    headers: {
      ...(json === undefined ? {} : { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
      ...(token === undefined ? {} : bearer(token)),
    },
    ...(json === undefined ? {} : { body: gzipSync(JSON.stringify(json)) }),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
}

/** The manifest of a route `GET /greet` whose action is this code, and the artifact. */
export function makeGreeting(greeting: string, more: Partial<Manifest> = {}): BuiltRelease {
  const content = `export default class Greet { async handle() { return { greeting: ${JSON.stringify(greeting)} } } }\n`
  const hash = sha256(content)
  const method: ManifestMethod = {
    method: 'GET',
    public: true,
    scopes: [],
    responses: { 200: { type: 'object', properties: { greeting: { type: 'string' } } } },
    action: { artifact: hash, file: 'src/greet.ts' },
  }
  const manifest: Manifest = {
    ...emptyManifest,
    waypost: version,
    routes: [{ path: '/greet', methods: [method] }],
    artifacts: { [hash]: Buffer.byteLength(content) },
    ...more,
  }
  return { manifest, artifacts: [{ hash, content }] }
}

/** A manifest with this many schemas, each with a pattern that takes a moment to compile. */
export function makeExpensive(count: number): BuiltRelease {
  const schemas = Array.from({ length: count }, (_, index) => [
    `S${index}`,
    { type: 'string', pattern: `^(a|b)*c{1,500}${index}$` },
  ])
  return makeGreeting('expensive', { schemas: Object.fromEntries(schemas) as Manifest['schemas'] })
}
