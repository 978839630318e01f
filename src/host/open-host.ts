import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock, variable, type Clock, type Variables } from '../kit/index.ts'
import type { ImportLimits } from '../release/index.ts'
import { assertSystemMigrated, isUnreachable, openSystem, type OpenSystemOptions } from '../store/index.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'

export interface OpenHostOptions {
  readonly folder: string
  readonly variables: Variables
  /** The files from which they were read; `.env` by default. */
  readonly envFiles?: readonly string[] | undefined
  readonly clock?: Clock
  /** The set of values to redact, if a logger was opened before the host. */
  readonly logSecrets?: Set<string>
  readonly imports?: ImportLimits | undefined
  /** Create the embedded System if it does not exist. Only `dev` and `migrate` do. */
  readonly create?: boolean
  /** Skip the check that Waypost's own tables match this version. */
  readonly unmigrated?: boolean
  readonly onStatement?: OpenSystemOptions['onStatement']
  /** For tests: trade durability and the strength of password hashes for speed. */
  readonly disposable?: boolean
  /** The maximum number of connections of System to PostgreSQL. */
  readonly poolSize?: number
}

const embeddedFile = path.join('.waypost', 'system.db')

/**
 * Opens the System that the environment configures, by default `.waypost/system.db` in the folder.
 * @throws WP_SERVER_NO_SYSTEM, WP_STORE_UNREACHABLE, WP_STORE_NOT_MIGRATED, WP_STORE_NEWER, WP_STORE_URL
 */
export async function openHost(options: OpenHostOptions): Promise<Host> {
  const { folder, variables } = options
  const named = variable(variables, 'WAYPOST_SYSTEM_URL')
  const url = resolveSystemUrl(options)
  if (named === undefined && !options.create && !existsSync(url.slice('sqlite:'.length))) {
    throw errors.WP_SERVER_NO_SYSTEM({ file: embeddedFile })
  }
  const directUrl = variable(variables, 'WAYPOST_SYSTEM_DIRECT_URL')
  const system = await openSystem({
    url,
    directUrl,
    isDirect: options.unmigrated ?? false,
    create: options.create ?? false,
    disposable: options.disposable ?? false,
    ...(options.poolSize === undefined ? {} : { poolSize: options.poolSize }),
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
    envFiles: options.envFiles,
    environment: variables,
    variables: { ...variables },
    system,
    clock: options.clock ?? systemClock,
    logSecrets: options.logSecrets ?? new Set(),
    imports: options.imports,
    isEmbedded: named === undefined,
    close: () => system.close(),
  }
}

/** How a long-running process waits for PostgreSQL when it starts. */
export interface AwaitHostOptions extends OpenHostOptions {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds between attempts; 1,000 by default. */
  readonly retryMs?: number
  /** Called once if PostgreSQL is unreachable. */
  onUnavailable(error: Error): void
}

const maxUnavailableMs = 60_000

/**
 * Opens System like `openHost`, but retries for 60 s while PostgreSQL is unreachable: after a power failure, or in a
 * cluster, everything starts at the same time.
 */
export async function awaitHost({
  signal,
  retryMs = 1000,
  onUnavailable,
  ...options
}: AwaitHostOptions): Promise<Host> {
  const { clock = systemClock } = options
  const deadline = clock.monotonic() + maxUnavailableMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await openHost(options)
    } catch (error) {
      if (!isUnreachable(error) || clock.monotonic() >= deadline || signal?.aborted) throw error
      if (attempt === 1) onUnavailable(error as Error)
      await pause(retryMs, undefined, { signal }).catch(() => undefined)
      if (signal?.aborted) throw error
    }
  }
}

/** Returns the address of System. A relative SQLite path is relative to the folder. */
export function resolveSystemUrl({ folder, variables }: Pick<OpenHostOptions, 'folder' | 'variables'>): string {
  const named = variable(variables, 'WAYPOST_SYSTEM_URL')
  if (named === undefined) return `sqlite:${path.join(folder, embeddedFile)}`
  if (!named.startsWith('sqlite:')) return named
  return `sqlite:${path.resolve(folder, named.slice('sqlite:'.length))}`
}
