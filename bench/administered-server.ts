import { addUser } from '../src/auth/index.ts'
import { openHost, type Host } from '../src/host/index.ts'
import { issueHostToken } from '../src/operate/index.ts'
import { migrateSystem } from '../src/store/index.ts'
import { makeHost, secret, startServe } from '../test/e2e/serving.ts'
import { send } from '../test/support/send.ts'
import { asCommand, bearer } from '../test/support/server.ts'

/** A `waypost serve` in its own process, and its administrator. */
export interface AdministeredServer extends AsyncDisposable {
  readonly host: Host
  readonly port: number
  readonly pid: number
  readonly token: string
  /**
   * Sends a request to the admin API.
   * @param line for example `POST /draft/plan`, below `/backend`
   * @returns the body
   */
  readonly call: Call
}

// oxlint-disable-next-line typescript/no-explicit-any -- each endpoint has its own
export type Call = (line: string, body?: unknown) => Promise<any>

export function makeCall(port: number, token: string): Call {
  return async (line, body) => {
    const [method = '', path = ''] = line.split(' ')
    const answer = await send(port, { method, path: `/backend${path}`, headers: bearer(token), body })
    if (answer.status >= 300) throw new Error(`${line}: ${answer.status} ${answer.text.slice(0, 2000)}`)
    return answer.body
  }
}

/**
 * @param scopes of the administrator
 * @param env further variables of the server
 */
export async function openAdministeredServer(
  systemUrl: string,
  scopes: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<AdministeredServer> {
  await using opening = new AsyncDisposableStack()
  const variables = {
    WAYPOST_SYSTEM_URL: systemUrl,
    WAYPOST_SECRET: secret,
    WAYPOST_BASE_URL: 'http://api.example.com',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
  }
  const folder = await makeHost(variables)
  opening.defer(folder.remove)
  const host = await openHost({ folder: folder.folder, variables, create: true, unmigrated: true })
  opening.defer(() => host.close())
  await migrateSystem(host.system)
  await addUser(host.system, { name: 'ann', scopes })
  const server = await startServe(folder, { env })
  opening.defer(async () => {
    await server.stop()
  })
  const { access_token: token } = await issueHostToken(asCommand(host), { user: 'ann', scopes, expires: undefined })
  const stack = opening.move()
  return {
    host,
    port: server.port,
    pid: server.pid,
    token,
    call: makeCall(server.port, token),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
