import type { PlannedDraft } from './planned-draft.ts'

/** What a draft has if it is the folder of a project: `dev` serves its changes at once, and code can be added to it. */
export interface DraftFolder {
  /** Absolute. */
  readonly path: string
  /** As shown to users: `~/todo`. */
  readonly place: string
  /** Plans what `generate:route` writes. @throws WP_PROJECT_GENERATE, WP_BACKEND_DRAFT_BROKEN */
  planRoute(route: DraftRoute): Promise<PlannedDraft & { readonly route: string; readonly action: string }>
  /** Plans what `generate:action` writes. @throws WP_PROJECT_GENERATE, WP_BACKEND_DRAFT_BROKEN */
  planAction(action: {
    readonly file: string
    readonly route?: string | undefined
  }): Promise<PlannedDraft & { readonly use: string; readonly file: string; readonly text: string }>
}

/** A method of a route to create. */
export interface DraftRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** By default those of the route. */
  readonly scopes?: readonly string[] | undefined
  readonly public: boolean
  /** Media types; by default JSON. */
  readonly request?: readonly string[] | undefined
  readonly response?: readonly string[] | undefined
}
