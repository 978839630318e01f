import type { Variables } from '../kit/index.ts'
import type { Host, Identity, WaypostServer } from '../server/index.ts'
import type { DevConsole } from './dev-console.ts'
import type { Project } from './find-project.ts'

export interface DevOptions {
  readonly folder: string
  readonly variables: Variables
  readonly port?: number | undefined
  readonly host?: string | undefined
  /** Deliver events in the background. */
  readonly deliver: boolean
  readonly console: DevConsole
}

/** What the parts of a running `dev` work on. */
export interface DevSession {
  readonly options: DevOptions
  readonly project: Project
  readonly host: Host
  readonly identity: Identity
  readonly server: WaypostServer
}
