import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock, variable, type Clock, type Variables } from '../kit/index.ts'
import type { ImportLimits } from '../release/index.ts'
import { assertSystemMigrated, isAway, openSystem, type OpenSystemOptions } from '../store/index.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'

export interface OpenHostOptions {
  readonly folder: string
  readonly variables: Variables
  readonly clock?: Clock
  /** What the log leaves out already, where one was opened before the host. */
  readonly logSecrets?: Set<string>
  readonly imports?: ImportLimits | undefined
  /** Make the embedded System where there is none: only `dev` and `migrate` do. */
  readonly create?: boolean
  /** Leave out the check that Waypost's own tables are the ones that this version knows. */
  readonly unmigrated?: boolean
  readonly onStatement?: OpenSystemOptions['onStatement']
  /** Give up durability and the strength of password hashes for speed, in a test. */
  readonly disposable?: boolean
}

const embeddedFile = path.join('.waypost', 'system.db')

/**
 * Opens the System that the environment names, `.waypost/system.db` in the folder by default.
 * @throws WP_SERVER_NO_SYSTEM, WP_STORE_UNREACHABLE, WP_STORE_NOT_MIGRATED, WP_STORE_NEWER, WP_STORE_URL
 */
export async function openHost(options: OpenHostOptions): Promise<Host> {
  const { folder, variables } = options
  const named = variable(variables, 'WAYPOST_SYSTEM_URL')
  const url = systemUrl(folder, named)
  if (named === undefined && !options.create && !existsSync(url.slice('sqlite:'.length))) {
    throw errors.WP_SERVER_NO_SYSTEM({ file: embeddedFile })
  }
  const directUrl = variable(variables, 'WAYPOST_SYSTEM_DIRECT_URL')
  const system = await openSystem({
    // Who migrates goes round a pooler altogether.
    url: (options.unmigrated && url.startsWith('postgres') ? directUrl : undefined) ?? url,
    directUrl,
    create: options.create ?? false,
    disposable: options.disposable ?? false,
    onStatement: options.onStatement,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  })
  try {
    if (!options.unmigrated) await assertSystemMigrated(system)
  } catch (error) {
    await system.close()
    throw error
  }
  return {
    folder,
    variables,
    system,
    clock: options.clock ?? systemClock,
    logSecrets: options.logSecrets ?? new Set(),
    imports: options.imports,
    isEmbedded: named === undefined,
    close: () => system.close(),
  }
}

/** How a process that is to run for long waits for PostgreSQL when it starts. */
export interface AwaitHostOptions extends OpenHostOptions {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
  /** How often it tries; 1,000 ms by default. */
  readonly retryMs?: number
  /** Told once, when PostgreSQL cannot be reached. */
  onAway(error: Error): void
}

const longestAwayMs = 60_000

/**
 * Opens System like `openHost`, but tries again for 60 s while PostgreSQL cannot be reached: after a power cut, or in a
 * cluster, everything starts at once.
 */
export async function awaitHost({ signal, retryMs = 1000, onAway, ...options }: AwaitHostOptions): Promise<Host> {
  const { clock = systemClock } = options
  const deadline = clock.monotonic() + longestAwayMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await openHost(options)
    } catch (error) {
      if (!isAway(error) || clock.monotonic() >= deadline || signal?.aborted) throw error
      if (attempt === 1) onAway(error as Error)
      await pause(retryMs, undefined, { signal }).catch(() => undefined)
      if (signal?.aborted) throw error
    }
  }
}

/** A relative SQLite file is meant from the folder. */
function systemUrl(folder: string, named: string | undefined): string {
  if (named === undefined) return `sqlite:${path.join(folder, embeddedFile)}`
  if (!named.startsWith('sqlite:')) return named
  return `sqlite:${path.resolve(folder, named.slice('sqlite:'.length))}`
}
