import type { SignInLinks } from '../auth/index.ts'
import type { Variables } from '../kit/index.ts'
import type { ImportLimits } from '../release/index.ts'
import type { Host, Identity } from '../host/index.ts'
import type { WaypostServer } from '../server/index.ts'
import type { DevConsole } from './dev-console.ts'
import type { FolderDraft } from './draft/folder-draft.ts'
import type { Project } from './find-project.ts'
import type { SessionMigrations } from './session-migrations.ts'

export interface DevOptions {
  readonly folder: string
  readonly variables: Variables
  /** The files from which they were read, which are read again when they change; `.env` by default. */
  readonly envFiles?: readonly string[] | undefined
  readonly port?: number | undefined
  readonly host?: string | undefined
  /** Accepted host names besides those of this machine; none by default. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Deliver events in the background. */
  readonly deliver: boolean
  readonly console: DevConsole
  /** Check the types of the project in the background; false by default. */
  readonly checksTypes?: boolean | undefined
  /** How long loading project code may take, and the signal that stops dev, also during start. */
  readonly imports?: ImportLimits
  /** Asks whether to listen on the next free port instead. Without it the start fails. */
  onPortTaken?(taken: TakenPort): Promise<boolean>
}

/** A port that is in use. */
export interface TakenPort {
  readonly port: number
  /** The next free port. */
  readonly next: number
  /** A description of the process that listens on it. */
  readonly owner: string
  /** The URL if it is another `dev` of this project. */
  readonly dev: string | undefined
}

/** The shared parts of a running `dev`. */
export interface DevSession {
  readonly options: DevOptions
  readonly project: Project
  readonly host: Host
  readonly identity: Identity
  readonly server: WaypostServer
  readonly links: SignInLinks
  readonly draft: FolderDraft
  readonly migrations: SessionMigrations
}
