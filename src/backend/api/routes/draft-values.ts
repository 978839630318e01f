import { Type } from 'typebox'
import type { Use } from '../../../definition/index.ts'
import { invertFiles, listEdited } from '../../draft/plan-edits.ts'
import { saveChange } from '../../draft/save-changes.ts'
import { keysOf, pointerOf } from '../../draft/values.ts'
import { errors, ProblemWith } from '../../errors.ts'
import { defineRoute } from '../route.ts'
import { maybeText, record, text } from '../shapes.ts'
import { respondSaved, condition, draftOf, draftSaved, loadClasses, pointer, refuseAsProblem } from './draft-shapes.ts'
import { saveEdits, conditionOf, ignoringErrors } from './save-edits.ts'

const maybeCount = Type.Union([Type.Integer(), Type.Null()])

const valueResponse = record({
  at: text,
  /** As written, with included files in place. Absent if there is none, as are an ETag and a place. */
  value: Type.Optional(Type.Unknown()),
  /** `file:line` of its key. */
  source: maybeText,
  /** The file that contains the value. */
  file: maybeText,
  /** The exact text of the entry, with its indentation: the part of the file from `start` to `end`. */
  yaml: maybeText,
  start: maybeCount,
  end: maybeCount,
})

export const value = defineRoute({
  name: 'getDraftValue',
  summary: 'The value at a JSON pointer into waypost.yml; the pointer follows includes',
  method: 'GET',
  path: '/draft/value',
  scopes: ['backend.read'],
  usesDraft: true,
  query: record({ at: pointer }),
  response: valueResponse,
  async handle({ query: { at }, ...call }) {
    const own = draftOf(call)
    const { texts } = await own.read()
    const found = await own.thread.ask('value', { texts, at })
    if (found === undefined) return { at, source: null, file: null, yaml: null, start: null, end: null }
    call.setEtag(found.etag)
    const { source, file, text: yaml, start, end } = found.entry
    return { at, value: found.value, source, file, yaml, start, end }
  },
})

export const putValue = defineRoute({
  name: 'setDraftValue',
  summary: 'Sets the value at a JSON pointer',
  method: 'PUT',
  path: '/draft/value',
  scopes: ['backend.write'],
  usesDraft: true,
  hasIfMatch: true,
  query: record({ at: pointer, ...ignoringErrors }),
  body: record({ value: Type.Unknown() }),
  response: draftSaved,
  handle: ({ query, body, ...call }) =>
    saveEdits(
      call,
      { edits: [{ at: query.at, value: body.value, ...conditionOf(call) }] },
      query.with_errors === 'true',
    ),
})

export const deleteValue = defineRoute({
  name: 'deleteDraftValue',
  summary: 'Removes the value at a JSON pointer',
  method: 'DELETE',
  path: '/draft/value',
  scopes: ['backend.write'],
  usesDraft: true,
  hasIfMatch: true,
  query: record({ at: pointer, ...ignoringErrors }),
  response: draftSaved,
  handle: ({ query, ...call }) =>
    saveEdits(call, { edits: [{ at: query.at, ...conditionOf(call) }] }, query.with_errors === 'true'),
})

const uses = Type.Array(record({ at: maybeText, source: text }))

export const use = defineRoute({
  name: 'listUsesInDraft',
  summary: 'The places that use an entry',
  method: 'GET',
  path: '/draft/use',
  scopes: ['backend.read'],
  usesDraft: true,
  query: record({ at: pointer }),
  response: record({ entry: uses }),
  async handle({ query: { at }, ...call }) {
    const own = draftOf(call)
    const { texts } = await own.read()
    const classes = await loadClasses(own)
    return { entry: formatUses(await refuseAsProblem(() => own.thread.ask('uses', { texts, at, classes }))) }
  },
})

function formatUses(found: readonly Use[]) {
  return found.map(({ at, source }) => ({ at: at ?? null, source }))
}

export const renaming = defineRoute({
  name: 'renameInDraft',
  summary: 'Renames an entry and all its uses',
  method: 'POST',
  path: '/draft/rename',
  scopes: ['backend.write'],
  usesDraft: true,
  body: record({ at: pointer, to: Type.String({ maxLength: 1000 }), if: condition }),
  response: record({
    /** What is renamed with it. */
    uses,
    /** The pointer after renaming. */
    at: text,
    saved: draftSaved,
  }),
  async handle({ body: { at, to, if: expected }, ...call }) {
    const own = draftOf(call)
    const classes = await loadClasses(own)
    const done = await saveChange(
      own,
      async (files) => {
        const { texts } = files
        const renamed = await refuseAsProblem(() =>
          own.thread.ask('rename', { texts, at, to, classes, condition: expected }),
        )
        if ('conflicts' in renamed) throw new ProblemWith(errors.WP_BACKEND_CHANGED(), renamed)
        return { changes: listEdited(files, renamed.files), uses: formatUses(renamed.uses) }
      },
      { by: call.principal.user },
    )
    const saved = await respondSaved(call, done, { count: 1, inverse: invertFiles(done.plan.changes) })
    return { uses: done.plan.uses, at: pointerOf([keysOf(at)[0]!, to]), saved }
  },
})
