import path from 'node:path'
import type { Clock, Variables } from '../kit/index.ts'
import type { ImportLimits } from '../release/index.ts'
import type { System } from '../store/index.ts'

/** A folder on a machine, with the System that its environment names. */
export interface Host {
  readonly folder: string
  readonly variables: Variables
  readonly system: System
  readonly clock: Clock
  /** Values that its log leaves out; more come with each release that declares secret variables. */
  readonly logSecrets: Set<string>
  /** How long its project's code may take to load. */
  readonly imports?: ImportLimits | undefined
  /** System is the SQLite file that stands in the folder by default. */
  readonly isEmbedded: boolean
  close(): Promise<void>
}

/** Where System is: a file, by its path from the folder if it is in it; a database, by its address without the password. */
export function nameTarget(host: Pick<Host, 'folder'> & { system: Pick<System, 'kind' | 'target'> }): string {
  const { kind, target } = host.system
  if (kind !== 'sqlite') return target
  const relative = path.relative(host.folder, target)
  return relative.startsWith('..') ? target : relative
}
