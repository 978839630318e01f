import { Type } from 'typebox'
import type { Principal } from '../../../contract/index.ts'
import type { Use } from '../../../definition/index.ts'
import type { Host } from '../../../host/index.ts'
import { loadReleaseFiles } from '../../../operate/index.ts'
import { findActivatorSince, loadActiveId } from '../../../release/index.ts'
import type { Draft } from '../../draft/draft.ts'
import type { DraftFiles } from '../../draft/file-change.ts'
import { planRequested } from '../../draft/plan-requested.ts'
import { invertFiles, listEdited, type RequestedEdits } from '../../draft/plan-edits.ts'
import { saveChange } from '../../draft/save-changes.ts'
import type { SystemDraft } from '../../draft/system/system-draft.ts'
import { isExceeded } from '../../draft/thread/draft-thread.ts'
import { listStagedVariables } from '../../draft/system/staged-variables.ts'
import { etagOfValue, keysOf, pointerOf } from '../../draft/values.ts'
import { errors, ProblemWith } from '../../errors.ts'
import { findLastPublication } from '../../publish/publications.ts'
import { defineRoute, type AdminSources } from '../route.ts'
import { formatTime } from '../../../kit/index.ts'
import { formatMaybeTime, maybeText, maybeTime, oneOf, record, text, time } from '../shapes.ts'
import { conflict, formatConflict } from './draft-server.ts'
import {
  answerSaved,
  condition,
  draftBodyLimit,
  diagnostic,
  fileText,
  draftOf,
  draftSaved,
  edit,
  fileEdit,
  filePath,
  formatDiagnostics,
  loadClasses,
  pointer,
  refuseAsProblem,
} from './draft-shapes.ts'

const status = oneOf('added', 'changed', 'removed')
const count = Type.Integer()
const maybeCount = Type.Union([count, Type.Null()])

const base = record({ kind: oneOf('git', 'start', 'release'), name: text })

const draft = defineRoute({
  name: 'getDraft',
  summary: 'The files that the pages edit: what has changed, and the problems of the current state',
  method: 'GET',
  path: '/draft',
  scopes: ['backend.read'],
  usesDraft: true,
  answer: record({
    /** Changes of a folder are served at once; those of a server when they are published. */
    mode: oneOf('folder', 'server'),
    name: text,
    /** The folder as shown to users: `~/todo`; null on a server. */
    path: maybeText,
    /** The absolute path of the folder; null on a server. */
    folder: maybeText,
    /** A hash of all definition files. */
    revision: text,
    /** What `changes` compares with: a release, empty for none; in `dev` the last commit, or the files when it began. */
    base,
    changes: Type.Array(record({ file: text, status, additions: count, deletions: count })),
    diagnostics: Type.Array(diagnostic),
    /** Why the current files are not served if none of them is the cause: a migration that failed. */
    problem: Type.Union([record({ code: text, message: text, hint: maybeText }), Type.Null()]),
    /** Whether the current files are served. If not, the last state without errors is. */
    is_served: Type.Boolean(),
    /** When what is served was loaded. */
    served_at: maybeTime,
    /** The last changes, the newest first. */
    history: Type.Array(
      record({
        /** The user; null if another program, such as an editor, changed the files. */
        by: maybeText,
        at: time,
        files: Type.Array(text),
        /** JSON pointers of the entries that changed: `/event/todo_created`. Empty if they are not known. */
        entries: Type.Array(text),
      }),
    ),
    /** The changes, by entry; empty in `dev`. */
    entries: Type.Array(
      record({
        /** The pointer, or the file. */
        name: text,
        /** The JSON pointer; null for a file that waypost.yml does not include. */
        at: maybeText,
        file: text,
        status,
        by: maybeText,
        changed_at: maybeTime,
      }),
    ),
    /** What the draft and a later release both changed. Nothing can be published before each one is decided. */
    conflicts: Type.Array(conflict),
    /** Who activated what the draft has conflicts with; null if several people did. */
    published: Type.Union([record({ by: text, at: time }), Type.Null()]),
    /** The variables that publishing sets. */
    variables: Type.Array(record({ name: text, by: text, changed_at: time })),
    /** The id of the running or last publication. */
    publish: maybeText,
  }),
  async handle(call) {
    const own = draftOf(call)
    const files = await own.read()
    const { kind, name, texts } = await own.loadBase()
    const { diagnostics, problem, isServed, servedAt } = await own.status()
    const history = await own.listHistory()
    return {
      mode: own.folder === undefined ? ('server' as const) : ('folder' as const),
      name: own.name,
      path: own.folder?.place ?? null,
      folder: own.folder?.path ?? null,
      revision: files.revision,
      base: { kind, name },
      changes: await own.thread.ask('diff', { before: texts, after: files.texts }),
      diagnostics: await formatDiagnostics(own, files.texts, diagnostics),
      problem:
        problem === undefined ? null : { code: problem.code, message: problem.message, hint: problem.hint ?? null },
      is_served: isServed,
      served_at: formatMaybeTime(servedAt),
      history: history.map(({ by, at, ...change }) => ({ ...change, by: by ?? null, at: formatTime(at) })),
      ...(call.publisher === undefined ? nothingElse : await describeServer(call.publisher.draft, call.host)),
    }
  },
})

const nothingElse = { entries: [], conflicts: [], published: null, variables: [], publish: null }

async function describeServer(own: SystemDraft, host: Host) {
  const { changes, conflicts, base: changed } = await own.readState()
  const published = conflicts.length === 0 ? undefined : await findActivatorSince(host.system, changed.number)
  const authors = await own.listAuthors()
  const variables = await listStagedVariables(host)
  return {
    entries: changes.map(({ name, at, file: path, status: kind }) => {
      const author = authors.get(name)
      return {
        name,
        at: at ?? null,
        file: path,
        status: kind,
        by: author?.by ?? null,
        changed_at: formatMaybeTime(author?.at),
      }
    }),
    conflicts: conflicts.map(formatConflict),
    published: published === undefined ? null : { by: published.by, at: formatTime(published.at) },
    variables: variables.map(({ name, by, changedAt }) => ({ name, by, changed_at: formatTime(changedAt) })),
    publish: (await findLastPublication(host.system)) ?? null,
  }
}

const difference = defineRoute({
  name: 'getDraftDifference',
  summary: 'The definition files that differ from the last commit, or from those when dev started',
  method: 'GET',
  path: '/draft/diff',
  scopes: ['backend.read'],
  usesDraft: true,
  answer: record({
    base,
    entry: Type.Array(
      record({ file: text, status, additions: count, deletions: count, before: maybeText, after: maybeText }),
    ),
  }),
  async handle(call) {
    const own = draftOf(call)
    const { kind, name, texts } = await own.loadBase()
    const after = (await own.read()).texts
    const entry = await own.thread.ask('diff', { before: texts, after })
    return {
      base: { kind, name },
      entry: entry.map((one) => ({ ...one, before: texts.get(one.file) ?? null, after: after.get(one.file) ?? null })),
    }
  },
})

const valueAnswer = record({
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

const value = defineRoute({
  name: 'getDraftValue',
  summary: 'The value at a JSON pointer into waypost.yml, which follows its includes',
  method: 'GET',
  path: '/draft/value',
  scopes: ['backend.read'],
  usesDraft: true,
  query: record({ at: pointer }),
  answer: valueAnswer,
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

const file = defineRoute({
  name: 'getDraftFile',
  summary: 'The text of a definition file',
  method: 'GET',
  path: '/draft/file',
  scopes: ['backend.read'],
  usesDraft: true,
  query: record({ path: filePath }),
  answer: record({
    file: text,
    text,
    /** The JSON pointers of waypost.yml at which the file is included. */
    at: Type.Array(text),
    diagnostics: Type.Array(diagnostic),
  }),
  async handle({ query: { path }, ...call }) {
    const own = draftOf(call)
    const files = await own.read()
    const found = textOf(files, path)
    call.setEtag(etagOfValue(found))
    const diagnostics = (await own.status()).diagnostics.filter((one) => one.file === path)
    const at = await listIncludes(own, files, path)
    return { file: path, text: found, at, diagnostics: await formatDiagnostics(own, files.texts, diagnostics) }
  },
})

/** The text can be read although the definition cannot be parsed within the limits. */
async function listIncludes({ thread }: Draft, { texts }: DraftFiles, path: string): Promise<readonly string[]> {
  try {
    return await thread.ask('includes', { texts, file: path })
  } catch (error) {
    if (isExceeded(error)) return []
    throw error
  }
}

const files = defineRoute({
  name: 'listDraftFiles',
  summary: 'The texts of all definition files of the draft or of the active release',
  method: 'GET',
  path: '/draft/files',
  scopes: ['backend.read'],
  usesDraft: true,
  query: record({ of: oneOf('draft', 'active') }),
  answer: record({ entry: Type.Array(record({ file: text, text })) }),
  async handle({ query: { of }, host, ...call }) {
    if (of === 'draft') {
      const { texts } = await draftOf(call).read()
      return { entry: [...texts].map(([name, content]) => ({ file: name, text: content })) }
    }
    const active = await loadActiveId(host.system)
    const found = active === undefined ? [] : (await loadReleaseFiles(host, active)).files
    return { entry: found.map(({ path: name, content }) => ({ file: name, text: content })) }
  },
})

/** @throws WP_BACKEND_DRAFT_FILE */
function textOf({ texts }: Pick<DraftFiles, 'texts'>, path: string): string {
  const found = texts.get(path)
  if (found === undefined) throw errors.WP_BACKEND_DRAFT_FILE({ file: path })
  return found
}

const check = defineRoute({
  name: 'checkDraft',
  summary: 'The problems that definition files would have with other texts. Nothing is saved',
  method: 'POST',
  path: '/draft/check',
  scopes: ['backend.write'],
  usesDraft: true,
  body: record({ files: Type.Array(record({ file: filePath, text: fileText }), { minItems: 1, maxItems: 100 }) }),
  answer: record({
    /** Those of the given files. */
    diagnostics: Type.Array(diagnostic),
  }),
  async handle({ body: { files }, ...call }) {
    const own = draftOf(call)
    const { texts } = await own.read()
    for (const { file } of files) textOf({ texts }, file)
    const found = await own.check(files)
    const changed = new Map([...texts, ...files.map((one) => [one.file, one.text] as const)])
    const inFiles = found.filter((one) => files.some(({ file }) => file === one.file))
    return { diagnostics: await formatDiagnostics(own, changed, inFiles) }
  },
})

const change = defineRoute({
  name: 'editDraft',
  summary: 'Changes values and files together: all or nothing',
  method: 'PATCH',
  path: '/draft',
  scopes: ['backend.write'],
  usesDraft: true,
  bodyLimit: draftBodyLimit,
  body: record({
    edits: Type.Optional(Type.Array(edit, { maxItems: 1000 })),
    files: Type.Optional(Type.Array(fileEdit, { maxItems: 2000 })),
    /** `files` replace `edits` while the files are as they require: what `inverse` of an answer asks for. */
    undo: Type.Optional(Type.Boolean()),
    /** Save also if the changes cause new errors, which are then not served. */
    with_errors: Type.Optional(Type.Boolean()),
  }),
  answer: draftSaved,
  handle: ({ body: { with_errors: withErrors, ...body }, ...call }) => saveEdits(call, body, withErrors),
})

async function saveEdits(
  call: Pick<AdminSources, 'draft' | 'host'> & { readonly principal: Principal },
  request: RequestedEdits,
  withErrors: boolean | undefined,
) {
  const saved = await saveChange(
    draftOf(call),
    async (files) => {
      const planned = await refuseAsProblem(() => planRequested(draftOf(call), files, request))
      if ('conflicts' in planned) throw new ProblemWith(errors.WP_BACKEND_CHANGED(), planned)
      const { tables } = draftOf(call)
      for (const one of planned.changes)
        if (await tables.isFrozen(one)) throw errors.WP_BACKEND_DRAFT_MIGRATION({ file: one.file })
      return { ...planned, tables: await tables.loadAfter(planned.changes) }
    },
    { withErrors, by: call.principal.user },
  )
  return answerSaved(call, saved, saved.plan)
}

function conditionOf({ condition }: { readonly condition: string | null | undefined }) {
  return condition === undefined ? {} : { if: condition }
}

const ignoringErrors = { with_errors: Type.Optional(Type.Literal('true')) }

const putValue = defineRoute({
  name: 'setDraftValue',
  summary: 'Sets the value at a JSON pointer',
  method: 'PUT',
  path: '/draft/value',
  scopes: ['backend.write'],
  usesDraft: true,
  hasIfMatch: true,
  query: record({ at: pointer, ...ignoringErrors }),
  body: record({ value: Type.Unknown() }),
  answer: draftSaved,
  handle: ({ query, body, ...call }) =>
    saveEdits(
      call,
      { edits: [{ at: query.at, value: body.value, ...conditionOf(call) }] },
      query.with_errors === 'true',
    ),
})

const deleteValue = defineRoute({
  name: 'deleteDraftValue',
  summary: 'Removes the value at a JSON pointer',
  method: 'DELETE',
  path: '/draft/value',
  scopes: ['backend.write'],
  usesDraft: true,
  hasIfMatch: true,
  query: record({ at: pointer, ...ignoringErrors }),
  answer: draftSaved,
  handle: ({ query, ...call }) =>
    saveEdits(call, { edits: [{ at: query.at, ...conditionOf(call) }] }, query.with_errors === 'true'),
})

const putFile = defineRoute({
  name: 'setDraftFile',
  summary: 'Writes a definition file',
  method: 'PUT',
  path: '/draft/file',
  scopes: ['backend.write'],
  usesDraft: true,
  hasIfMatch: true,
  bodyLimit: draftBodyLimit,
  query: record({ path: filePath, ...ignoringErrors }),
  body: record({ text: fileText }),
  answer: draftSaved,
  handle: ({ query, body, ...call }) =>
    saveEdits(
      call,
      { files: [{ file: query.path, text: body.text, ...conditionOf(call) }] },
      query.with_errors === 'true',
    ),
})

const deleteFile = defineRoute({
  name: 'deleteDraftFile',
  summary: 'Deletes a definition file',
  method: 'DELETE',
  path: '/draft/file',
  scopes: ['backend.write'],
  usesDraft: true,
  hasIfMatch: true,
  query: record({ path: filePath, ...ignoringErrors }),
  answer: draftSaved,
  handle: ({ query, ...call }) =>
    saveEdits(call, { files: [{ file: query.path, text: null, ...conditionOf(call) }] }, query.with_errors === 'true'),
})

const uses = Type.Array(record({ at: maybeText, source: text }))

const use = defineRoute({
  name: 'listUsesInDraft',
  summary: 'The places that name an entry',
  method: 'GET',
  path: '/draft/use',
  scopes: ['backend.read'],
  usesDraft: true,
  query: record({ at: pointer }),
  answer: record({ entry: uses }),
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

const renaming = defineRoute({
  name: 'renameInDraft',
  summary: 'Renames an entry and all its uses',
  method: 'POST',
  path: '/draft/rename',
  scopes: ['backend.write'],
  usesDraft: true,
  body: record({ at: pointer, to: Type.String({ maxLength: 1000 }), if: condition }),
  answer: record({
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
    const saved = await answerSaved(call, done, { count: 1, inverse: invertFiles(done.plan.changes) })
    return { uses: done.plan.uses, at: pointerOf([keysOf(at)[0]!, to]), saved }
  },
})

export const draftRoutes = [
  draft,
  change,
  check,
  difference,
  value,
  putValue,
  deleteValue,
  file,
  files,
  putFile,
  deleteFile,
  use,
  renaming,
]
