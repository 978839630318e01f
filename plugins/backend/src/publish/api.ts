import { send } from '../api/send.ts'

/** A change of the draft: an entry of a part of waypost.yml, or a file that it does not include. */
export interface DraftEntry {
  /** A JSON pointer of waypost.yml, or the path of a file, which does not begin with `/`. */
  readonly name: string
  readonly at: string | null
  readonly file: string
  readonly status: 'added' | 'changed' | 'removed'
  readonly by: string | null
  readonly changed_at: string | null
}

/** An entry that the draft and a later release changed. Values are JSON, or texts of files; null if absent. */
export interface DraftConflict {
  readonly name: string
  readonly at: string | null
  readonly file: string
  readonly base: unknown
  readonly theirs: unknown
  readonly mine: unknown
}

/** The parts of `GET /draft` that differ between a folder and the draft of a server. */
export interface ServerState {
  readonly mode: 'folder' | 'server'
  readonly path: string | null
  readonly folder: string | null
  readonly base: { readonly kind: 'git' | 'start' | 'release'; readonly name: string }
  readonly entries: readonly DraftEntry[]
  readonly conflicts: readonly DraftConflict[]
  readonly variables: readonly { readonly name: string; readonly by: string; readonly changed_at: string }[]
  readonly publish: string | null
}

export interface Plan {
  readonly active: string | null
  readonly release: string | null
  readonly changes: readonly {
    readonly change: 'added' | 'changed' | 'removed'
    readonly kind: string
    readonly name: string
    readonly breaking: boolean
    readonly details: readonly { readonly text: string; readonly breaking: boolean }[]
    readonly source?: string
  }[]
  readonly breaking_changes: number
  readonly migrations: readonly {
    readonly name: string
    readonly sql: readonly string[]
    readonly breaking: readonly string[]
    readonly losses: readonly string[]
  }[]
  readonly missing_variables: readonly {
    readonly name: string
    readonly servers: readonly string[]
    readonly uses: readonly string[]
  }[]
  readonly new_variable_uses: readonly { readonly name: string; readonly uses: readonly string[] }[]
  readonly unheld_scopes: readonly string[]
  readonly older_servers: readonly { readonly name: string; readonly version: string }[]
  readonly diagnostics: readonly {
    readonly severity: 'error' | 'warning'
    readonly message: string
    readonly hint: string | null
    readonly file: string
    readonly line: number
    readonly at: string | null
  }[]
}

export interface Publication {
  readonly id: string
  readonly state: 'migrating' | 'activating' | 'activated' | 'failed'
  readonly release: string | null
  readonly by: string
  readonly created_at: string
  readonly message: string | null
  readonly migrated: readonly string[]
  readonly servers: readonly { readonly name: string; readonly state: string; readonly error: string | null }[]
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null } | null
}

export interface PublishRequest {
  readonly changes?: readonly string[]
  readonly message?: string
  readonly migrate?: boolean
  readonly allow_breaking?: boolean
  readonly grant?: readonly string[]
  readonly against: string | null
}

const id = encodeURIComponent

export const publishing = {
  plan: (changes: readonly string[] | undefined, signal: AbortSignal) =>
    send<Plan>('POST', 'draft/plan', { body: changes === undefined ? {} : { changes }, signal }),
  publish: (body: PublishRequest) => send<{ readonly id: string }>('POST', 'draft/publish', { body }),
  load: (name: string, signal: AbortSignal) => send<Publication>('GET', `publish/${id(name)}`, { signal }),
  discard: (changes?: readonly string[]) =>
    send<{
      readonly revision: string
      readonly kept: readonly { readonly name: string; readonly reason: string }[]
    }>('POST', 'draft/discard', { body: changes === undefined ? {} : { changes } }),
  rebase: (body: { readonly revision: string; readonly take: Readonly<Record<string, 'mine' | 'theirs'>> }) =>
    send('POST', 'draft/rebase', { body }),
  open: (activation: number) => send('POST', 'draft/open', { body: { activation } }),
  setVariable: (name: string, value: string) =>
    send<{ readonly name: string } | undefined>('PUT', `draft/variable/${id(name)}`, { body: { value } }),
}
