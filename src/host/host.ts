import path from 'node:path'
import type { Clock, Variables } from '../kit/index.ts'
import type { ImportLimits } from '../release/index.ts'
import type { System } from '../store/index.ts'

/** A folder on a machine, with the System that its environment configures. */
export interface Host {
  readonly folder: string
  /** The files of the folder from which variables are read; `.env` by default. The last one takes precedence. */
  readonly envFiles?: readonly string[] | undefined
  /** The variables of the process and of these files. */
  readonly environment: Variables
  /** `environment`, with the variables in System once they were read. */
  readonly variables: Variables
  readonly system: System
  readonly clock: Clock
  /** Values that the log redacts. Each release that declares secret variables adds more. */
  readonly logSecrets: Set<string>
  /** How long the project's code may take to load. */
  readonly imports?: ImportLimits | undefined
  /** Whether System is the default SQLite file in the folder. */
  readonly isEmbedded: boolean
  close(): Promise<void>
}

/**
 * Returns the location of System for messages: the path of a file, relative to the folder if it is inside; the address
 * of a database, without password.
 */
export function nameTarget(host: Pick<Host, 'folder'> & { system: Pick<System, 'kind' | 'target'> }): string {
  const { kind, target } = host.system
  if (kind !== 'sqlite') return target
  const relative = path.relative(host.folder, target)
  return relative.startsWith('..') ? target : relative
}
