import type { Answer } from '../api/call.ts'
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

export type Plan = Answer<'POST /draft/plan'>
export type Publication = Answer<'GET /publish/:id'>

const id = encodeURIComponent

export const publishing = {
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
