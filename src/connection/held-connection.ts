import type { Log, OpenConnection } from '../contract/index.ts'
import { safeMessageOf, withDeadline } from '../kit/index.ts'
import { pluginErrors as errors } from '../plugin/index.ts'

const closeMs = 5000

/** The names of a connection and of the plugin that provides its class. */
interface Owner {
  readonly connection: string
  readonly plugin: string
}

/** A connection shared by generations: opened once, reopened after failures, closed by the last user. */
export class HeldConnection {
  readonly #open: () => Promise<OpenConnection>
  readonly #log: Log
  readonly #owner: Owner
  #users = 0
  #connection: OpenConnection | undefined
  #failure: string | undefined
  #opening: Promise<void> | undefined

  constructor(open: () => Promise<OpenConnection>, log: Log, owner: Owner) {
    this.#open = open
    this.#log = log
    this.#owner = owner
  }

  /** The open connection; undefined if it is not open. */
  get connection(): OpenConnection | undefined {
    return this.#connection
  }

  /** Why it is not open. */
  get failure(): string {
    return this.#failure ?? 'it is being opened'
  }

  use(): void {
    this.#users += 1
  }

  /** Opens it, or waits for a running attempt. Never throws; errors are in `failure`. */
  open(): Promise<void> {
    this.#opening ??= this.#tryOpen()
    return this.#opening
  }

  /**
   * Reopens it in the background if it is not open.
   * @returns why it was not open
   */
  reopen(): string | undefined {
    if (this.#connection !== undefined) return undefined
    const reason = this.failure
    void this.open()
    return reason
  }

  /**
   * Checks the other side.
   * @returns the problem, if it is known within the time limit
   */
  async findProblem(limitMs: number): Promise<string | undefined> {
    return withDeadline(this.#check(), limitMs, () =>
      this.#connection === undefined ? this.failure : 'it does not respond',
    )
  }

  /** @returns whether this was the last user, which must close it */
  release(): boolean {
    this.#users -= 1
    return this.#users === 0
  }

  /** Stops waiting after 5 s. Never throws. */
  async close(): Promise<void> {
    this.#users = 0
    const { connection, plugin } = this.#owner
    const what = `closing the connection "${connection}"`
    const closing = this.#close().catch((error: unknown) =>
      this.#log.warn(`${what} of the plugin "${plugin}" failed: ${safeMessageOf(error)}`),
    )
    const late = () => this.#log.warn(errors.WP_PLUGIN_TIMEOUT({ name: plugin, what, seconds: closeMs / 1000 }).message)
    await withDeadline(closing, closeMs, late)
  }

  async #close(): Promise<void> {
    await this.#opening
    const connection = this.#connection
    this.#connection = undefined
    this.#failure = 'it was closed'
    await connection?.close()
  }

  async #tryOpen(): Promise<void> {
    if (this.#users === 0) return // no user is left to close it
    try {
      this.#connection = await this.#open()
      this.#failure = undefined
    } catch (error) {
      this.#failure = safeMessageOf(error)
      this.#opening = undefined
    }
  }

  async #check(): Promise<string | undefined> {
    await this.open()
    if (this.#connection === undefined) return this.failure
    try {
      await this.#connection.check()
      return undefined
    } catch (error) {
      return safeMessageOf(error)
    }
  }
}
