import { Client, type ClientBase, type ClientConfig, type QueryConfig } from 'pg'
import { explainConnectError } from './postgres-errors.ts'
import type { PostgresAddress, SearchPath } from './postgres-address.ts'
import { writeSearchPath, writeSessionSettings, type SessionOptions } from './postgres-session.ts'
import { wrong } from './postgres-tls.ts'

export const connectLimitMs = 5000

/**
 * Makes the class of the clients of an address, whose options may change from one connection to the next.
 * @param onBegin called before a client connects
 */
export function makeClientClass(
  address: PostgresAddress,
  onBegin: (client: ClientBase) => void = () => undefined,
): typeof Client {
  return class extends Client {
    readonly #failed: (error: unknown) => void

    constructor(config: ClientConfig) {
      const attempt = address.begin()
      super({ ...config, ...attempt.config })
      this.#failed = (error) => attempt.failed(error)
      if (address.requiresBinding) requireBinding(this)
      onBegin(this)
    }

    override connect(): Promise<Client>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): Promise<Client> | void {
      if (callback === undefined) {
        return super.connect().catch((error: unknown) => {
          this.#failed(error)
          throw error
        })
      }
      super.connect((error: Error) => {
        if (error) this.#failed(error)
        callback(error)
      })
    }
  }
}

/**
 * Ends a connection before it sends a password or a statement, unless the login is bound to the certificate of the server
 * and the server has proved with its signature that it took part.
 */
function requireBinding(client: Client): void {
  const { connection } = client
  // pg assigns null after it has checked the signature. These listeners are called before those of pg.
  const isProven = () => (client as { readonly saslSession?: unknown }).saslSession === null
  const refuse = () => connection.emit('error', new Error('its login does not have channel_binding=require'))
  connection.on('error', () => connection.stream.destroy())
  for (const event of ['authenticationCleartextPassword', 'authenticationMD5Password']) connection.on(event, refuse)
  connection.on('authenticationSASL', ({ mechanisms }: { readonly mechanisms: readonly string[] }) => {
    if (!mechanisms.includes('SCRAM-SHA-256-PLUS')) refuse()
  })
  for (const event of ['authenticationOk', 'readyForQuery']) connection.on(event, () => void (isProven() || refuse()))
}

export interface ClientPlace {
  readonly address: PostgresAddress
  readonly session: SessionOptions
}

/**
 * Opens a client outside a pool.
 * @throws WP_STORE_UNREACHABLE
 */
export async function openClientOf(config: ClientConfig, place: ClientPlace, isFirst = true): Promise<Client> {
  const { address, session } = place
  const client = new (makeClientClass(address))(config)
  client.on('error', ignore)
  try {
    await client.connect()
    await setUpClient(client, { address, session })
    return client
  } catch (error) {
    await client.end().catch(ignore)
    if (isFirst && address.isWorthRetry(error)) return openClientOf(config, place, false)
    throw explainConnectError(error, { target: address.target, limitMs: connectLimitMs })
  }
}

/** Sets what a new connection depends on. */
export async function setUpClient(client: ClientBase, { address, session }: ClientPlace): Promise<void> {
  const run = <Row extends object>(text: string) =>
    client.query<Row>({ text, query_timeout: connectLimitMs } as QueryConfig) // missing from its types
  await run(writeSessionSettings(session))
  const { searchPath } = address
  if (searchPath === undefined) return
  const found = await run<{ pid: number; path: string }>(
    `select pg_backend_pid() as pid, current_setting('search_path') as path`,
  )
  const { pid, path } = found.rows[0]!
  if (pid === (client as { processID?: number }).processID) await run(writeSearchPath(searchPath.value))
  else assertSamePath(searchPath, path)
}

/** A pooler may give the next statement another connection, and this one to another program. */
function assertSamePath({ name, value }: SearchPath, found: string): void {
  const normalize = (path: string) => path.replaceAll(/[\s"]/g, '')
  if (normalize(value) === normalize(found)) return
  const statement = 'alter role … set search_path = …'
  throw wrong(
    name,
    value,
    `behind a pooler, it must be the same as that of the role, which is ${found}; set it with "${statement}"`,
  )
}

function ignore(): void {}
