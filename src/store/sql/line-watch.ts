import type { Client, ClientBase, QueryConfig } from 'pg'

/** The parts of a client that its types do not show. */
type OpenedClient = ClientBase & { readonly processID?: number; readonly connection: { stream: { destroy(): void } } }

export interface LineWatchOptions {
  /** Opens a connection of its own, to ask by. */
  openClient(): Promise<Client>
  /** How long a statement goes unanswered until it is asked after. */
  readonly lateMs: number
}

interface Waiting {
  readonly client: OpenedClient
  readonly since: number
}

const askLimitMs = 3000

/**
 * Ends connections that nobody answers on any more. Over a line that is half open, because a firewall forgot it or the
 * other machine is gone, a statement would wait for as long as TCP tries: a quarter of an hour. How long a statement may
 * work nobody knows, so what is late is asked after on another connection: while PostgreSQL works on it, it is waited for.
 */
export class LineWatch {
  readonly #options: LineWatchOptions
  readonly #waiting = new Map<OpenedClient, Waiting>()
  /** Connections of which PostgreSQL can tell: a pooler gives out other numbers. */
  readonly #known = new WeakSet<OpenedClient>()
  #timer: NodeJS.Timeout | undefined
  #isAsking = false
  #unreachableSince: number | undefined

  constructor(options: LineWatchOptions) {
    this.#options = options
  }

  /** Learns whether PostgreSQL can tell of a new connection. */
  async meet(opened: ClientBase): Promise<void> {
    const client = opened as OpenedClient
    const text = `select 1 from pg_stat_activity where pid = $1 and pid = pg_backend_pid()`
    const { rows } = await client.query(limited(text, [client.processID]))
    if (rows.length === 1) this.#known.add(client)
  }

  /** A statement begins. */
  begin(opened: ClientBase): void {
    const client = opened as OpenedClient
    this.#waiting.set(client, { client, since: performance.now() })
    this.#timer ??= setInterval(() => this.#look(), this.#options.lateMs / 2).unref()
  }

  end(opened: ClientBase): void {
    this.#waiting.delete(opened as OpenedClient)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#waiting.clear()
  }

  #look(): void {
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      this.#unreachableSince = undefined
    }
    const latest = performance.now() - this.#options.lateMs
    const late = [...this.#waiting.values()].filter(({ client, since }) => since < latest && this.#known.has(client))
    if (late.length === 0 || this.#isAsking) return
    this.#isAsking = true
    void this.#ask(late).finally(() => (this.#isAsking = false))
  }

  async #ask(late: readonly Waiting[]): Promise<void> {
    let working: ReadonlySet<number>
    try {
      working = await this.#findWorking(late.map(({ client }) => client.processID!))
      this.#unreachableSince = undefined
    } catch (error) {
      if (/^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? '')) return // it answers, if only that it is full
      this.#unreachableSince ??= performance.now()
      if (performance.now() - this.#unreachableSince < this.#options.lateMs) return // it may be gone for a moment only
      working = new Set()
    }
    for (const one of late) {
      const isSame = this.#waiting.get(one.client) === one // not yet answered
      if (isSame && !working.has(one.client.processID!)) one.client.connection.stream.destroy()
    }
  }

  /** Which of these PostgreSQL works on, or has answered only just now. */
  async #findWorking(pids: readonly number[]): Promise<ReadonlySet<number>> {
    const client = await this.#options.openClient()
    try {
      const { rows } = await client.query<{ pid: number }>(
        limited(
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

function limited(text: string, values: unknown[]): QueryConfig {
  return { text, values, query_timeout: askLimitMs } as QueryConfig // which pg knows and its types do not
}
