import type { ActingHost } from '../../operate/index.ts'
import type { KnownActor } from '../deploy/actor.ts'
import type { SystemDraft } from '../draft/system/system-draft.ts'
import type { PublicationPlan } from './plan-publication.ts'
import type { Publication } from './publications.ts'
import type { Texts } from '../../definition/index.ts'

/** Publishes the draft of a server, or some of its changes. */
export interface Publisher {
  readonly draft: SystemDraft
  /**
   * Returns what publishing would change. Opens only connections that the active release has too.
   * @param changes the names of the changes to publish; all by default
   * @throws WP_BACKEND_PUBLISH_CHANGE
   */
  plan(changes: readonly string[] | undefined): Promise<PublicationPlan & { readonly texts: Texts }>
  /**
   * Checks a publication, records it and runs it in the background.
   * @returns its id
   * @throws the reason why it is refused; nothing has changed then
   */
  start(request: PublishRequest, by: Publishing): Promise<string>
  /** @throws WP_BACKEND_PUBLISH_UNKNOWN */
  find(id: string): Promise<PublicationProgress>
  /** Waits for a publication that runs in this process. */
  close(): Promise<void>
}

export interface PublishRequest {
  /** The names of the changes to publish; all by default. */
  readonly changes?: readonly string[] | undefined
  readonly message?: string | undefined
  /** Run the pending migrations of the release first. */
  readonly migrate?: boolean | undefined
  readonly allowBreaking?: boolean | undefined
  /** The warnings about access in the plan were read. */
  readonly acceptAccess?: boolean | undefined
  /** Scopes that the caller gets with the activation. */
  readonly grant?: readonly string[] | undefined
  /** The id of the release that the caller has seen in a plan. */
  readonly release?: string | undefined
  /** The id of the release that must be active, or its beginning; null if none must be. */
  readonly against: string | null
}

/** Who publishes. */
export interface Publishing {
  readonly host: ActingHost
  readonly actor: KnownActor
}

export interface PublicationProgress extends Publication {
  /** The live servers, if this release is active. */
  readonly servers: readonly ServerProgress[]
}

export interface ServerProgress {
  readonly name: string
  readonly state: 'waiting' | 'serving' | 'failed'
  readonly error: string | undefined
}
