import { Type } from 'typebox'
import type { Host } from '../../../host/index.ts'
import { findActivatorSince } from '../../../release/index.ts'
import type { SystemDraft } from '../../draft/system/system-draft.ts'
import { listStagedVariables } from '../../draft/system/staged-variables.ts'
import { findLastPublication } from '../../publish/publications.ts'
import { defineRoute } from '../route.ts'
import { formatTime } from '../../../kit/index.ts'
import { formatMaybeTime, maybeText, maybeTime, oneOf, record, text, time } from '../shapes.ts'
import { conflict, formatConflict } from './draft-server.ts'
import { draftBodyLimit, diagnostic, draftOf, draftSaved, edit, fileEdit, formatDiagnostics } from './draft-shapes.ts'
import { saveEdits } from './save-edits.ts'
import { value, putValue, deleteValue, use, renaming } from './draft-values.ts'
import { check, file, files, putFile, deleteFile } from './draft-files.ts'

const status = oneOf('added', 'changed', 'removed')
const count = Type.Integer()

const base = record({ kind: oneOf('git', 'start', 'release'), name: text })

const draft = defineRoute({
  name: 'getDraft',
  summary: 'The files that the pages edit: what has changed, and the problems of the current state',
  method: 'GET',
  path: '/draft',
  scopes: ['backend.read'],
  usesDraft: true,
  response: record({
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
  response: record({
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
    /** `files` replace `edits` while the files are as they require: what `inverse` of a response asks for. */
    undo: Type.Optional(Type.Boolean()),
    /** Save also if the changes cause new errors, which are then not served. */
    with_errors: Type.Optional(Type.Boolean()),
  }),
  response: draftSaved,
  handle: ({ body: { with_errors: withErrors, ...body }, ...call }) => saveEdits(call, body, withErrors),
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
] as const
