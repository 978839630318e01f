import {
  editDefinition,
  findKey,
  findValue,
  hasTooManyParts,
  openEditing,
  setInDefinition,
  type EditedFiles,
  type Editing,
  type Writable,
} from '../../definition/index.ts'
import { errors } from '../errors.ts'
import type { DraftFiles, FileChange } from './file-change.ts'
import { etagOfValue, keysOf, pointerOf } from './values.ts'

/** The files of a draft, opened for edits. */
interface OpenedFiles extends Pick<DraftFiles, 'texts'> {
  readonly editing: Editing
}

/** A change of one value. Without a value, it is removed. */
export interface ValueEdit {
  readonly at: string
  readonly value?: unknown
  /** The ETag that the current value must have; null if there must be none. */
  readonly if?: string | null
}

/** A change of one file. */
export interface FileEdit {
  readonly file: string
  /** Null deletes the file. */
  readonly text: string | null
  readonly if?: string | null
}

export interface RequestedEdits {
  readonly edits?: readonly ValueEdit[] | undefined
  readonly files?: readonly FileEdit[] | undefined
  /** Whether `files` replace `edits` while the files are as they require. Otherwise both are made. */
  readonly undo?: boolean | undefined
}

/** The current state of what someone else has changed. */
export type EditConflict =
  | { readonly at: string; readonly etag: string | null; readonly value: unknown }
  | { readonly file: string; readonly etag: string | null; readonly text: string | null }

export interface PlannedEdits {
  readonly changes: readonly FileChange[]
  /** How many edits change something. */
  readonly count: number
  readonly inverse: { readonly edits: readonly ValueEdit[]; readonly files: readonly FileEdit[]; readonly undo: true }
}

/**
 * Plans edits of values and files as one change. Nothing is written.
 * @returns the conflicts if the current state is not the expected one
 * @throws WP_DEFINITION_EDIT_REFUSED, WP_BACKEND_DRAFT_POINTER, WP_BACKEND_DRAFT_ABSENT, WP_BACKEND_DRAFT_FILE,
 * WP_BACKEND_DRAFT_VALUE
 */
export function planEdits(
  draft: OpenedFiles,
  request: RequestedEdits,
): PlannedEdits | { readonly conflicts: readonly EditConflict[] } {
  const { edits, files } = chooseEdits(draft, request)
  const large = edits.find(({ value }) => value !== undefined && hasTooManyParts([JSON.stringify(value)]))
  if (large !== undefined) throw errors.WP_BACKEND_DRAFT_VALUE({ at: large.at })
  const conflicts = [
    ...edits.flatMap((edit) => findValueConflict(draft, edit)),
    ...files.flatMap((edit) => findFileConflict(draft, edit)),
  ]
  if (conflicts.length > 0) return { conflicts }
  for (const { file, text } of files)
    if (text === null && !draft.texts.has(file)) throw errors.WP_BACKEND_DRAFT_FILE({ file })
  const working = withFiles(draft.editing, files)
  for (const { at, ...edit } of edits)
    if (!('value' in edit) && findValue(working, keysOf(at)) === undefined) throw errors.WP_BACKEND_DRAFT_ABSENT({ at })
  const written = edits.map((edit) => {
    return { keys: keysOf(edit.at), value: 'value' in edit ? (edit.value as Writable) : undefined }
  })
  // Files alone are not parsed: the text of one can be replaced whatever it contains.
  const edited = written.length === 0 ? new Map<string, string>() : editDefinition(working, written)
  const all: EditedFiles = new Map([...files.map(({ file, text }) => [file, text ?? undefined] as const), ...edited])
  const changes = listEdited(draft, all)
  const changed = edits.filter((edit) => !isSame(findValue(draft.editing, keysOf(edit.at)), edit.value))
  const count = changed.length + files.filter(({ file, text }) => text !== (draft.texts.get(file) ?? null)).length
  return { changes, count, inverse: invert(draft, { changed, changes, after: withFiles(working, edited) }) }
}

/** Returns the files that an edit changes. */
export function listEdited({ texts }: Pick<DraftFiles, 'texts'>, edited: EditedFiles): readonly FileChange[] {
  return [...edited].flatMap(([file, text]): readonly FileChange[] => {
    const before = texts.get(file)
    return text === before ? [] : [{ file, text, before }]
  })
}

function chooseEdits(draft: OpenedFiles, { edits = [], files = [], undo = false }: RequestedEdits) {
  if (!undo || edits.length === 0) return { edits, files }
  const isExact = files.length > 0 && files.every((edit) => findFileConflict(draft, edit).length === 0)
  return isExact ? { edits: [], files } : { edits, files: [] }
}

/** Compares with the order of keys, which is part of what is written. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Returns the conflict of an edit whose condition does not hold. */
export function findValueConflict({ editing }: Pick<OpenedFiles, 'editing'>, edit: ValueEdit): readonly EditConflict[] {
  if (edit.if === undefined) return []
  const value = findValue(editing, keysOf(edit.at))
  const etag = value === undefined ? null : etagOfValue(value)
  if (fits(edit.if, etag)) return []
  // Values in a file that cannot be parsed seem to be absent: say that instead.
  if (value === undefined) setInDefinition(editing, keysOf(edit.at), null)
  return [{ at: edit.at, etag, value: value ?? null }]
}

function findFileConflict({ texts }: Pick<OpenedFiles, 'texts'>, edit: FileEdit): readonly EditConflict[] {
  if (edit.if === undefined) return []
  const text = texts.get(edit.file)
  const etag = text === undefined ? null : etagOfValue(text)
  return fits(edit.if, etag) ? [] : [{ file: edit.file, etag, text: text ?? null }]
}

/** `*` is any value. */
function fits(wanted: string | null, etag: string | null): boolean {
  return wanted === '*' ? etag !== null : wanted === etag
}

function withFiles({ root, texts, cache }: Editing, files: EditedFiles | readonly FileEdit[]): Editing {
  const given = Array.isArray(files)
    ? files.map(({ file, text }: FileEdit) => [file, text ?? undefined] as const)
    : [...(files as EditedFiles)]
  const kept = given.flatMap(([file, text]) => (text === undefined ? [] : [[file, text] as const]))
  const editing = openEditing(root, { texts: new Map([...texts, ...kept]), cache })
  for (const [file, text] of given) if (text === undefined) editing.files.set(file, undefined)
  return editing
}

interface Made {
  readonly changed: readonly ValueEdit[]
  readonly changes: readonly FileChange[]
  readonly after: Editing
}

/** The files restore every byte; the values are for the case that something else in the files has changed since. */
function invert({ editing }: OpenedFiles, { changed, changes, after }: Made): PlannedEdits['inverse'] {
  const places = new Set(changed.map(({ at }) => pointerOf(findOwner(editing, keysOf(at)))))
  const outer = [...places].filter((at) => ![...places].some((other) => at !== other && at.startsWith(`${other}/`)))
  const edits = outer.map((at): ValueEdit => {
    const [before, now] = [findValue(editing, keysOf(at)), findValue(after, keysOf(at))]
    return { at, ...(before === undefined ? {} : { value: before }), if: now === undefined ? null : etagOfValue(now) }
  })
  return { ...invertFiles(changes), edits }
}

/** Restores the files of a change. */
export function invertFiles(changes: readonly FileChange[]): PlannedEdits['inverse'] {
  const files = changes.map(({ file, text, before }): FileEdit => {
    return { file, text: before ?? null, if: text === undefined ? null : etagOfValue(text) }
  })
  return { edits: [], files, undo: true }
}

/** The value that must be restored for keys: the first one on the way that did not exist, or the list around an item. */
function findOwner(editing: Editing, keys: readonly string[]): readonly string[] {
  for (let depth = 1; depth < keys.length; depth += 1) {
    const [outer, key] = [keys.slice(0, depth), keys[depth]!]
    if (findKey(editing, outer) === undefined) return outer
    if (/^(\d+|-)$/.test(key) && Array.isArray(findValue(editing, outer))) return outer
  }
  return keys
}
