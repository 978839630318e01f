import type { ConnectionClass, Log, OpenConnection } from '../contract/index.ts'
import { messageOf, nearest, resolveReferences, type Variables } from '../kit/index.ts'
import { errors } from './errors.ts'

/** A connection as a release names it; config may hold `${env.NAME}`. */
export interface ConnectionUse {
  readonly class: string
  readonly config: Readonly<Record<string, unknown>>
}

/** The connections of one generation. */
export interface ConnectionSet {
  /** @throws WP_CONNECTION_UNKNOWN, WP_CONNECTION_DOWN */
  get(name: string): OpenConnection
  /** What could not be opened, with the reason. */
  readonly down: ReadonlyMap<string, string>
  /** Gives the connections back; the last generation that used one closes it. */
  release(): Promise<void>
}

/** Opens connections and keeps them over generations as long as their config stays the same. */
export interface ConnectionRegistry {
  /** @throws WP_CONNECTION_CLASS, WP_CONNECTION_VARIABLE */
  acquire(uses: Readonly<Record<string, ConnectionUse>>): Promise<ConnectionSet>
  close(): Promise<void>
}

export interface RegistryOptions {
  readonly classes: ReadonlyMap<string, ConnectionClass>
  readonly variables: Variables
  readonly folder: string
  readonly log: Log
  /** Connections that stand without being named, `System` above all; they are never closed here. */
  readonly builtIn: Readonly<Record<string, OpenConnection>>
}

interface Held {
  readonly key: string
  users: number
  connection: OpenConnection | undefined
  failure: string | undefined
  opening: Promise<void> | undefined
  open(): Promise<void>
}

export function makeConnectionRegistry(options: RegistryOptions): ConnectionRegistry {
  const held = new Map<string, Held>()

  function hold(name: string, use: ConnectionUse): Held {
    const { openClass, config } = resolveUse(options, name, use)
    const key = JSON.stringify([name, use.class, config])
    const existing = held.get(key)
    if (existing !== undefined) return existing
    const made: Held = {
      key,
      users: 0,
      connection: undefined,
      failure: undefined,
      opening: undefined,
      open() {
        made.opening ??= openClass.open(config, { name, folder: options.folder, log: options.log }).then(
          (connection) => {
            made.connection = connection
            made.failure = undefined
          },
          (error: unknown) => {
            made.failure = messageOf(error)
            made.opening = undefined
          },
        )
        return made.opening
      },
    }
    held.set(key, made)
    return made
  }

  async function drop(one: Held): Promise<void> {
    one.users--
    if (one.users > 0) return
    held.delete(one.key)
    await one.opening
    await one.connection?.close().catch((error: unknown) => options.log.warn(`closing a connection: ${messageOf(error)}`))
  }

  return {
    async acquire(uses) {
      const own = new Map(Object.entries(uses).map(([name, use]) => [name, hold(name, use)]))
      for (const one of own.values()) one.users++
      await Promise.all([...own.values()].map((one) => one.open()))
      let released = false
      return {
        get: (name) => options.builtIn[name] ?? pick(own, name, Object.keys(options.builtIn)),
        down: new Map([...own].flatMap(([name, one]) => (one.failure === undefined ? [] : [[name, one.failure]]))),
        async release() {
          if (released) return
          released = true
          await Promise.all([...own.values()].map(drop))
        },
      }
    },
    async close() {
      await Promise.all([...held.values()].map((one) => drop(Object.assign(one, { users: 1 }))))
    },
  }
}

function resolveUse(options: RegistryOptions, name: string, use: ConnectionUse) {
  const openClass = options.classes.get(use.class)
  if (openClass === undefined) {
    throw errors.WP_CONNECTION_CLASS({ name, class: use.class, known: [...options.classes.keys()].sort().join(', ') })
  }
  const { value: config, missing } = resolveReferences(use.config, options.variables)
  if (missing.length > 0) throw errors.WP_CONNECTION_VARIABLE({ name, variables: missing.join(', ') })
  return { openClass, config }
}

function pick(own: ReadonlyMap<string, Held>, name: string, builtIn: readonly string[]): OpenConnection {
  const one = own.get(name)
  if (one === undefined) {
    const guess = nearest(name, [...builtIn, ...own.keys()])
    throw errors.WP_CONNECTION_UNKNOWN({ name, hint: guess === undefined ? 'Name it under connection: in waypost.yml.' : `Did you mean "${guess}"?` })
  }
  if (one.connection !== undefined) return one.connection
  void one.open()
  throw errors.WP_CONNECTION_DOWN({ name, reason: one.failure ?? 'it is being opened' }, { retryAfterSeconds: 1 })
}
