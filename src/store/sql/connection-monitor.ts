import type { Client, ClientBase, QueryConfig } from 'pg'

/** Properties of a client that its types omit. */
type OpenedClient = ClientBase & { readonly processID?: number; readonly connection: { stream: { destroy(): void } } }

export interface ConnectionMonitorOptions {
  /** Opens a separate connection for checks. */
  openClient(): Promise<Client>
  /** How long a statement may take before its connection is checked. */
  readonly lateMs: number
}

interface PendingStatement {
  readonly client: OpenedClient
  readonly since: number
}

const checkTimeoutMs = 3000

/**
 * Closes dead connections. On a half-open connection, for example after a firewall dropped it or the other host failed,
 * a statement would wait until TCP gives up after a quarter of an hour. Statements may legitimately take any time, so
 * late ones are checked on another connection: as long as PostgreSQL is working on them, they continue.
 */
export class ConnectionMonitor {
  readonly #options: ConnectionMonitorOptions
  readonly #pending = new Map<OpenedClient, PendingStatement>()
  /** Connections that PostgreSQL can identify. A pooler reports other process ids. */
  readonly #identifiable = new WeakSet<OpenedClient>()
  #timer: NodeJS.Timeout | undefined
  #isChecking = false
  #unreachableSince: number | undefined

  constructor(options: ConnectionMonitorOptions) {
    this.#options = options
  }

  /** @returns whether PostgreSQL can identify a new connection; false behind a pooler */
  async register(opened: ClientBase): Promise<boolean> {
    const client = opened as OpenedClient
    const text = `select 1 from pg_stat_activity where pid = $1 and pid = pg_backend_pid()`
    const { rows } = await client.query(withTimeout(text, [client.processID]))
    if (rows.length === 1) this.#identifiable.add(client)
    return rows.length === 1
  }

  /** Starts to monitor a statement. */
  begin(opened: ClientBase): void {
    const client = opened as OpenedClient
    this.#pending.set(client, { client, since: performance.now() })
    this.#timer ??= setInterval(() => this.#check(), this.#options.lateMs / 2).unref()
  }

  end(opened: ClientBase): void {
    this.#pending.delete(opened as OpenedClient)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#pending.clear()
  }

  #check(): void {
    if (this.#pending.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      this.#unreachableSince = undefined
    }
    const latest = performance.now() - this.#options.lateMs
    const late = [...this.#pending.values()].filter(
      ({ client, since }) => since < latest && this.#identifiable.has(client),
    )
    if (late.length === 0 || this.#isChecking) return
    this.#isChecking = true
    void this.#checkLate(late).finally(() => (this.#isChecking = false))
  }

  async #checkLate(late: readonly PendingStatement[]): Promise<void> {
    let working: ReadonlySet<number>
    try {
      working = await this.#findWorking(late.map(({ client }) => client.processID!))
      this.#unreachableSince = undefined
    } catch (error) {
      if (/^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? '')) return // the server answers, even if only with an error such as too many connections
      this.#unreachableSince ??= performance.now()
      if (performance.now() - this.#unreachableSince < this.#options.lateMs) return // the outage may be short
      working = new Set()
    }
    for (const one of late) {
      const isSame = this.#pending.get(one.client) === one // the same statement is still unanswered
      if (isSame && !working.has(one.client.processID!)) one.client.connection.stream.destroy()
    }
  }

  /** Returns the process ids that PostgreSQL is working for or has just answered. */
  async #findWorking(pids: readonly number[]): Promise<ReadonlySet<number>> {
    const client = await this.#options.openClient()
    try {
      const { rows } = await client.query<{ pid: number }>(
        withTimeout(
          `select pid from pg_stat_activity where pid = any($1::int[])
            and (state not like 'idle%' or state_change > clock_timestamp() - interval '2 s')`,
          [pids],
        ),
      )
      return new Set(rows.map(({ pid }) => pid))
    } finally {
      client.end().catch(() => undefined)
    }
  }
}

function withTimeout(text: string, values: unknown[]): QueryConfig {
  return { text, values, query_timeout: checkTimeoutMs } as QueryConfig // supported by pg but missing from its types
}
