import { Type } from 'typebox'
import type { RebaseConflict } from '../../draft/system/draft-changes.ts'
import { errors, ProblemWith } from '../../errors.ts'
import { defineRoute } from '../route.ts'
import { maybeText, oneOf, record, text } from '../shapes.ts'
import { respondSaved, draftSaved, systemDraftOf } from './draft-shapes.ts'

// Routes that only the draft of a server has.

export const conflict = record({
  /** The pointer, or the file. */
  name: text,
  at: maybeText,
  file: text,
  /** JSON values, or texts of files; null if absent. */
  base: Type.Unknown(),
  theirs: Type.Unknown(),
  mine: Type.Unknown(),
})

export function formatConflict({ name, at, file, base, theirs, mine }: RebaseConflict) {
  return { name, at: at ?? null, file, base: base ?? null, theirs: theirs ?? null, mine: mine ?? null }
}

const name = Type.String({ minLength: 1, maxLength: 4000 })

const discard = defineRoute({
  name: 'discardDraft',
  summary: 'Discards changes of the draft of a server: all, or those with the given names',
  method: 'POST',
  path: '/draft/discard',
  scopes: ['backend.write'],
  usesDraft: true,
  body: record({ changes: Type.Optional(Type.Array(name, { maxItems: 10_000 })) }),
  response: record({
    revision: text,
    /** Migrations that have run, so they stay. */
    kept: Type.Array(record({ name: text, reason: text })),
  }),
  async handle({ body, ...call }) {
    const draft = systemDraftOf(call)
    const kept = await draft.exclusive(() => draft.discard(body.changes, call.principal.user))
    return { revision: (await draft.read()).revision, kept }
  },
})

const rebase = defineRoute({
  name: 'rebaseDraft',
  summary: 'Bases the draft of a server on the active release and resolves all conflicts',
  method: 'POST',
  path: '/draft/rebase',
  scopes: ['backend.write'],
  usesDraft: true,
  body: record({
    /** The revision whose conflicts were decided. */
    revision: text,
    /** By the name of the conflict. */
    take: Type.Record(Type.String(), oneOf('mine', 'theirs')),
  }),
  response: draftSaved,
  async handle({ body: { revision, take }, ...call }) {
    const draft = systemDraftOf(call)
    const { diagnostics: before } = await draft.status()
    const done = await draft.exclusive(async () => {
      const state = await draft.readState()
      const { conflicts } = state
      const changed = () => new ProblemWith(errors.WP_BACKEND_CHANGED(), { conflicts: conflicts.map(formatConflict) })
      if (state.revision !== revision) throw changed()
      const open = conflicts.filter((one) => !Object.hasOwn(take, one.name))
      if (open.length > 0) {
        const names = open.map((one) => one.name).join(', ')
        throw new ProblemWith(errors.WP_BACKEND_DRAFT_CONFLICTS({ names }), { conflicts: open.map(formatConflict) })
      }
      if (!(await draft.rebase(state, { sides: take, by: call.principal.user }))) throw changed()
      const { texts } = await draft.readState()
      return [...new Set([...texts.keys(), ...state.texts.keys()])].filter(
        (file) => texts.get(file) !== state.texts.get(file),
      )
    })
    // Restoring the files before would undo the active release.
    const inverse = { edits: [], files: [], undo: true } as const
    return respondSaved(call, { files: done, isServed: false, before }, { count: Object.keys(take).length, inverse })
  },
})

const open = defineRoute({
  name: 'openActivationInDraft',
  summary: 'Makes the definition files of an earlier activation the draft of a server, if it has no changes',
  method: 'POST',
  path: '/draft/open',
  scopes: ['backend.write'],
  usesDraft: true,
  body: record({ activation: Type.Integer({ minimum: 1 }) }),
  response: record({ revision: text }),
  fields: { WP_BACKEND_DRAFT_ACTIVATION: 'body/activation' },
  async handle({ body, ...call }) {
    const draft = systemDraftOf(call)
    await draft.exclusive(() => draft.open(body.activation, call.principal.user))
    return { revision: (await draft.read()).revision }
  },
})

export const draftServerRoutes = [discard, rebase, open] as const
