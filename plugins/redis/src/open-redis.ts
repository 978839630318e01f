import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@redis/client'
import type { Log, OpenConnection } from 'waypost'

/** The client of `@redis/client`. It connects by itself. Commands fail at once while Redis is down. */
export type RedisClient = ReturnType<typeof createClient>

export interface RedisOptions {
  readonly url: string
  /** How long Redis may take to connect or to respond. */
  readonly timeoutMs: number
  /** The name of the connection. */
  readonly name: string
  readonly log: Log
}

/** Starts a window with the first call, also if an earlier window with another length would end later. */
const countScript = `local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return { count, left }`
const countHash = createHash('sha1').update(countScript).digest('hex')

/** Bounds what waits for a Redis that does not respond. */
const maxWaiting = 50_000
const maxPauseMs = 2000

/** Opens a connection that connects in the background, for as long as it is open. */
export function openRedis(
  options: RedisOptions,
): OpenConnection<RedisClient> & Required<Pick<OpenConnection, 'count'>> {
  const link = new Link(options)
  const { client } = link
  return {
    client,
    check: () => link.check(),
    async count(key, windowMs) {
      const [count, resetMs] = await evaluate(client, [`waypost:count:${key}`, String(windowMs)])
      return { count, resetMs }
    },
    close: async () => link.close(),
  }
}

/** Runs the script by its hash. A Redis that does not know it yet, such as after a restart, gets its text. */
async function evaluate(client: RedisClient, [key, windowMs]: readonly [string, string]): Promise<[number, number]> {
  try {
    return (await client.sendCommand(['EVALSHA', countHash, '1', key, windowMs])) as unknown as [number, number]
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return (await client.sendCommand(['EVAL', countScript, '1', key, windowMs])) as unknown as [number, number]
  }
}

function makeClient({ url, timeoutMs, name }: RedisOptions): RedisClient {
  try {
    const client = createClient({
      url,
      name: `waypost-${name}`,
      disableOfflineQueue: true,
      commandsQueueMaxLength: maxWaiting,
      commandOptions: { timeout: 0 }, // would only apply to commands that are not sent yet
      maintNotifications: 'disabled',
      socket: { connectTimeout: timeoutMs, reconnectStrategy: false },
    })
    // Copies, for subscriptions and blocking commands, belong to the caller and reconnect by themselves.
    const duplicate = (own?: object) => createClient({ url, ...own })
    return Object.assign(client, { duplicate }) as RedisClient
  } catch {
    throw new Error('The URL is not a valid Redis URL') // the error would contain the password
  }
}

/**
 * Keeps a client connected. The client's own reconnection would wait forever for a Redis that accepts connections and
 * never answers.
 */
class Link {
  readonly client: RedisClient
  readonly #options: RedisOptions
  readonly #firstAttempt = Promise.withResolvers<void>()
  /** Aborted when the present connection is lost. */
  #lost = new AbortController()
  #failure: Error | undefined
  #isClosed = false

  constructor(options: RedisOptions) {
    this.#options = options
    this.client = makeClient(options)
    this.client.on('error', (error: unknown) => this.#lost.abort(error))
    void this.#keepConnected()
  }

  async check(): Promise<void> {
    await within(this.#options.timeoutMs, this.#firstAttempt.promise)
    if (this.#failure !== undefined) throw this.#failure
    try {
      await within(this.#options.timeoutMs, this.client.ping())
    } catch (error) {
      throw this.#failure ?? error
    }
  }

  close(): void {
    this.#isClosed = true
    this.#failure = new Error('The connection is closed')
    this.#firstAttempt.resolve()
    this.#lost.abort(this.#failure)
    this.client.destroy()
  }

  async #keepConnected(): Promise<void> {
    const { log, name } = this.#options
    for (let failures = 0; !this.#isClosed; failures += 1) {
      this.#lost = new AbortController()
      try {
        await this.#connect()
        if (failures > 0) log.info({ connection: name }, 'connected to Redis again')
        failures = 0
        this.#failure = undefined
        this.#firstAttempt.resolve()
        await this.#watch()
      } catch (error) {
        if (this.#isClosed) return
        const failure = toError(error)
        this.#failure = failure
        this.#firstAttempt.resolve()
        this.client.destroy()
        if (failures === 0) log.warn({ connection: name, reason: failure.message }, 'the connection to Redis failed')
        this.#lost = new AbortController()
        await this.#wait(Math.min(50 * 2 ** failures, maxPauseMs) * (0.5 + Math.random() / 2)).catch(() => undefined)
      }
    }
  }

  async #connect(): Promise<void> {
    const connecting = this.client.connect()
    try {
      await within(2 * this.#options.timeoutMs, connecting) // one for the socket, one for the login
      if (this.#isClosed) throw new Error('The connection is closed')
    } catch (error) {
      this.client.destroy()
      await connecting.catch(() => undefined) // two attempts at once would open two sockets
      throw error
    }
  }

  /** Asks Redis regularly whether it responds. @throws when it does not, or when the connection is lost */
  async #watch(): Promise<never> {
    for (;;) {
      await this.#wait(this.#options.timeoutMs)
      await within(this.#options.timeoutMs, this.client.ping())
    }
  }

  /** @throws why the connection was lost meanwhile */
  async #wait(ms: number): Promise<void> {
    const { signal } = this.#lost
    await pause(ms, undefined, { signal }).catch(() => undefined)
    signal.throwIfAborted()
  }
}

async function within<Value>(ms: number, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const fail = () => reject(new Error(`Redis did not respond within ${ms} ms`))
    // In two steps, so that a stall of this machine counts as half of the time at most.
    timer = setTimeout(() => {
      timer = setTimeout(fail, ms / 2)
    }, ms / 2)
  })
  work.catch(() => undefined) // it may fail after the deadline
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** An error of several addresses has no message of its own. */
function toError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  if (error instanceof AggregateError && error.message === '') return toError(error.errors[0])
  if (/CERT|UNABLE_TO_/.test((error as NodeJS.ErrnoException).code ?? ''))
    return new Error(
      `The certificate is not trusted: ${error.message}. Set NODE_EXTRA_CA_CERTS to the file of its authority`,
      {
        cause: error,
      },
    )
  return error
}
