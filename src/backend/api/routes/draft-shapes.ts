import { Type } from 'typebox'
import { EditRefused, type ClassCatalog, type Texts } from '../../../definition/index.ts'
import { loadCatalog } from '../../../operate/index.ts'
import type { Draft } from '../../draft/draft.ts'
import type { PlannedEdits } from '../../draft/plan-edits.ts'
import type { PlannedDraft } from '../../draft/planned-draft.ts'
import { subtractKnown, type SavedChange } from '../../draft/save-changes.ts'
import type { TaskOutput } from '../../draft/thread/draft-tasks.ts'
import type { SystemDraft } from '../../draft/system/system-draft.ts'
import { errors, ProblemWith } from '../../errors.ts'
import { type AdminSources } from '../route.ts'
import { formatTime, type Diagnostic } from '../../../kit/index.ts'
import { maybeText, oneOf, record, text, time } from '../shapes.ts'

// Parts of the schemas of the routes below /draft.

/** A JSON pointer of waypost.yml after includes: `/routes/~1todo`. */
export const pointer = Type.String({ maxLength: 4000, pattern: '^(/[^\\u0000]*)?$' })

/** Relative to the folder, with forward slashes. */
export const filePath = Type.String({ minLength: 1, maxLength: 300 })

const count = Type.Integer()

export const diagnostic = record({
  severity: oneOf('error', 'warning'),
  code: text,
  message: text,
  hint: maybeText,
  file: text,
  line: count,
  column: count,
  end_line: count,
  end_column: count,
  /** The JSON pointer of the entry that has the problem. */
  at: maybeText,
})

/** What must be there before a change: an ETag, or null if nothing may be. */
export const condition = Type.Optional(Type.Union([text, Type.Null()]))

export const edit = record({
  at: pointer,
  /** Without a value, the entry is removed. */
  value: Type.Optional(Type.Unknown()),
  if: condition,
})

/** Larger than the limit of all files, in JSON. */
export const draftBodyLimit = 12 * 1024 * 1024

export const fileText = Type.String({ maxLength: 1024 * 1024 })

export const fileEdit = record({
  file: filePath,
  /** Null deletes the file. */
  text: Type.Union([fileText, Type.Null()]),
  if: condition,
})

/** The result of a change. */
export const draftSaved = record({
  revision: text,
  saved_at: time,
  /** How many of the given edits changed something. */
  changes: count,
  /** The files that were written or deleted. */
  files: Type.Array(text),
  /** The problems of the new state. */
  diagnostics: Type.Array(diagnostic),
  /** The warnings that the change causes. */
  warnings: Type.Array(diagnostic),
  /** Whether the new state is served. */
  is_served: Type.Boolean(),
  /** A change that undoes this one, while nothing else has changed the same values. */
  inverse: record({ edits: Type.Array(edit), files: Type.Array(fileEdit), undo: Type.Literal(true) }),
})

/** Returns problems of texts of a draft with the places of their entries. */
export async function formatDiagnostics(
  { thread }: Draft,
  texts: Texts,
  diagnostics: readonly Diagnostic[],
): Promise<TaskOutput<'format'>> {
  return diagnostics.length === 0 ? [] : thread.ask('format', { texts, diagnostics })
}

/** Responds with the new state of the draft. */
export async function respondSaved(
  call: Pick<AdminSources, 'draft' | 'host'>,
  { files, isServed, before }: Pick<SavedChange<PlannedDraft>, 'files' | 'isServed' | 'before'>,
  { count, inverse }: Pick<PlannedEdits, 'count' | 'inverse'>,
) {
  const draft = draftOf(call)
  const now = await draft.read()
  const { diagnostics } = await draft.status()
  const warnings = subtractKnown(diagnostics, before).filter(({ severity }) => severity === 'warning')
  return {
    revision: now.revision,
    saved_at: formatTime(call.host.clock.now()),
    changes: count,
    files,
    diagnostics: await formatDiagnostics(draft, now.texts, diagnostics),
    warnings: await formatDiagnostics(draft, now.texts, warnings),
    is_served: isServed,
    inverse,
  }
}

/** @throws WP_BACKEND_DRAFT, WP_BACKEND_DRAFT_FOLDER */
export function systemDraftOf({ draft, publisher }: Pick<AdminSources, 'draft' | 'publisher'>): SystemDraft {
  if (draft === undefined) throw errors.WP_BACKEND_DRAFT()
  if (publisher === undefined) throw errors.WP_BACKEND_DRAFT_FOLDER()
  return publisher.draft
}

/** @throws WP_BACKEND_DRAFT */
export function draftOf({ draft }: { readonly draft?: Draft | undefined }): Draft {
  if (draft === undefined) throw errors.WP_BACKEND_DRAFT()
  return draft
}

/** The response to a refused edit names the file and line. */
export async function refuseAsProblem<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof EditRefused)) throw error
    throw new ProblemWith(error, { file: error.file, line: error.line })
  }
}

/** The configs of all classes, which name entries of the definition. */
export async function loadClasses(own: Draft): Promise<ClassCatalog> {
  const { connections, actions, plugins } = await loadCatalog(await own.loadPlugins())
  const listed = plugins.flatMap(({ from, catalog: { config = true } }) =>
    from === undefined ? [] : [[from, { config }] as const],
  )
  return {
    connections: Object.fromEntries(connections),
    actions: Object.fromEntries(actions),
    plugins: Object.fromEntries(listed),
  }
}
