import type { Variables } from '../kit/index.ts'
import type { ImportLimits } from '../release/index.ts'
import type { Host, Identity } from '../host/index.ts'
import type { WaypostServer } from '../server/index.ts'
import type { DevConsole } from './dev-console.ts'
import type { Project } from './find-project.ts'

export interface DevOptions {
  readonly folder: string
  readonly variables: Variables
  readonly port?: number | undefined
  readonly host?: string | undefined
  /** Names that requests may ask for beside those of this machine; none by default. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Deliver events in the background. */
  readonly deliver: boolean
  readonly console: DevConsole
  /** How long the project's code may take to load, and what ends dev also while it starts. */
  readonly imports?: ImportLimits
  /** Asked whether to listen on the next free port instead; without an answer the start fails. */
  onPortTaken?(taken: TakenPort): Promise<boolean>
}

/** A port that something listens on. */
export interface TakenPort {
  readonly port: number
  /** The next one that is free. */
  readonly next: number
  /** Who listens, in words. */
  readonly owner: string
  /** The address of another `dev` of this project, where that is who. */
  readonly dev: string | undefined
}

/** What the parts of a running `dev` work on. */
export interface DevSession {
  readonly options: DevOptions
  readonly project: Project
  readonly host: Host
  readonly identity: Identity
  readonly server: WaypostServer
}
