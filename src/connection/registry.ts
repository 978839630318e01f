import type { Log, OpenConnection } from '../contract/index.ts'
import { nearest, type Variables } from '../kit/index.ts'
import { makeConfigPreparer, type PluginSet, type PreparedConfig, type ServicesOf } from '../plugin/index.ts'
import { errors } from './errors.ts'
import { HeldConnection } from './held-connection.ts'

/** A connection of a release. Its config may contain `${env.NAME}`. */
export interface ConnectionUse {
  readonly class: string
  readonly config: Readonly<Record<string, unknown>>
}

/** The connections of a generation. */
export interface ConnectionSet {
  /** @throws WP_CONNECTION_UNKNOWN, WP_CONNECTION_DOWN */
  get(name: string): OpenConnection
  /** Connections that could not be opened or did not respond, with the reason. Opened ones may respond later. */
  readonly down: ReadonlyMap<string, string>
  /** Releases the connections. The last generation that uses one closes it. */
  release(): Promise<void>
}

/** Opens connections and keeps them across generations while their config stays the same. */
export interface ConnectionRegistry {
  /** @throws WP_CONNECTION_CLASS, WP_CONNECTION_VARIABLE, WP_CONNECTION_CONFIG, WP_PLUGIN_CONFIG */
  acquire(uses: Readonly<Record<string, ConnectionUse>>, classes: PluginSet['connections']): Promise<ConnectionSet>
  close(): Promise<void>
}

export interface RegistryOptions {
  readonly variables: Variables
  readonly folder: string
  readonly log: Log
  readonly services: ServicesOf
  /** Connections that always exist, such as `System`. The registry never closes them. */
  readonly builtIn: Readonly<Record<string, OpenConnection>>
  /** How long to wait for connections that neither open nor fail; 2 s by default. */
  readonly waitMs?: number
}

/** How long a new generation waits for connections that neither open nor fail. */
const maxWaitMs = 2000

export function makeConnectionRegistry(options: RegistryOptions): ConnectionRegistry {
  const held = new Map<string, HeldConnection>()
  const prepare = makeConfigPreparer(options.variables)

  function hold(
    name: string,
    use: ConnectionUse,
    classes: PluginSet['connections'],
  ): readonly [key: string, one: HeldConnection] {
    const { class: openClass, by } = findClass(classes, name, use)
    const config = prepareUse(prepare(openClass.config, use.config), name, use)
    const services = options.services(by)
    const key = JSON.stringify([name, use.class, config, by.version, services.config])
    const open = async () => openClass.open(config, { ...services, name, folder: options.folder })
    return [key, held.get(key) ?? new HeldConnection(open, options.log, { connection: name, plugin: by.plugin.name })]
  }

  return {
    async acquire(uses, classes) {
      const own = new Map(Object.entries(uses).map(([name, use]) => [name, hold(name, use, classes)]))
      const fresh = new Set([...own.values()].flatMap(([key, one]) => (held.has(key) ? [] : [one])))
      for (const [key, one] of own.values()) {
        held.set(key, one)
        one.use()
      }
      // Connections of the previous generation are not awaited, because their problems were already reported.
      const findProblem = (one: HeldConnection) =>
        fresh.has(one) ? one.findProblem(options.waitMs ?? maxWaitMs) : one.reopen()
      const problems = await Promise.all(
        [...own].map(async ([name, [, one]]) => [name, await findProblem(one)] as const),
      )
      let released = false
      return {
        get: (name) => {
          const builtIn = Object.hasOwn(options.builtIn, name) ? options.builtIn[name] : undefined
          return builtIn ?? pick(name, own, Object.keys(options.builtIn))
        },
        down: new Map(problems.flatMap(([name, problem]) => (problem === undefined ? [] : [[name, problem]]))),
        async release() {
          if (released) return
          released = true
          const last = [...own.values()].filter(([, one]) => one.release())
          for (const [key] of last) held.delete(key) // before it closes, so that the next generation does not use it
          await Promise.all(last.map(([, one]) => one.close()))
        },
      }
    },
    async close() {
      await Promise.all([...held.values()].map((one) => one.close()))
      held.clear()
    },
  }
}

function findClass(classes: PluginSet['connections'], name: string, use: ConnectionUse) {
  const found = classes.get(use.class)
  if (found !== undefined) return found
  throw errors.WP_CONNECTION_CLASS({ name, class: use.class, known: [...classes.keys()].sort().join(', ') || 'none' })
}

function prepareUse(prepared: PreparedConfig, name: string, use: ConnectionUse): ConnectionUse['config'] {
  if ('config' in prepared) return prepared.config
  if ('missing' in prepared) throw errors.WP_CONNECTION_VARIABLE({ name, variables: prepared.missing.join(', ') })
  throw errors.WP_CONNECTION_CONFIG({ name, class: use.class, problem: prepared.problem })
}

type Own = ReadonlyMap<string, readonly [key: string, one: HeldConnection]>

function pick(name: string, own: Own, builtIn: readonly string[]): OpenConnection {
  const one = own.get(name)?.[1]
  if (one === undefined) {
    const guess = nearest(name, [...builtIn, ...own.keys()])
    const hint = guess === undefined ? 'Declare it under "connection:" in waypost.yml.' : `Did you mean "${guess}"?`
    throw errors.WP_CONNECTION_UNKNOWN({ name, hint })
  }
  if (one.connection !== undefined) return one.connection
  const reason = one.reopen() ?? one.failure
  throw errors.WP_CONNECTION_DOWN({ name, reason }, { retryAfterSeconds: 1 })
}
