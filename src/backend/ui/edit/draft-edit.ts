import { useQueries, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem } from '../api/send.ts'
import { fileQuery, valueQuery, type Diagnostic, type DraftFile, type DraftValue } from './draft.ts'
import { refreshDraft, saveChange, type Change, type Edit } from './save-change.ts'
import { isEqual, isSame, isWithin, keysOf, listChanges, valueAt, withValueAt } from './values.ts'

/** The current value of something that was changed by someone else. */
export interface Theirs {
  readonly value: unknown
  readonly etag: string | undefined
}

/** What a save bar shows: unsaved changes, and why they could not be saved. */
export interface Saving {
  /** The number of changed values. */
  readonly changes: number
  readonly isSaving: boolean
  /** Why saving failed. */
  readonly problem: unknown
  /** New errors in the definition, because of which nothing was saved. */
  readonly refused: readonly Diagnostic[]
  /** Whether someone else changed what is being edited. */
  readonly isOutdated: boolean
  save(options?: { readonly withErrors?: boolean }): Promise<boolean>
  discard(): void
}

/** Form state over values of the draft. All pointers are those of waypost.yml. */
export interface DraftEdit extends Saving {
  readonly isLoading: boolean
  /** Why the values could not be loaded. */
  readonly loadError: unknown
  /** The edited value at a pointer; without one, the first value of the edit. */
  get(at?: string): unknown
  /** The stored value at a pointer. */
  before(at?: string): unknown
  /** Changes a value; undefined removes it. A pointer outside of the edit adds a value that does not exist yet. */
  set(at: string, value: unknown): void
  /** The problem of a field: of its value or of something inside of it. */
  errorOf(at: string): string | undefined
  /** `file:line` of a value of the edit. */
  sourceOf(at?: string): string | undefined
  /** Grows when the edit begins anew: when it is saved, discarded or based on other values. */
  readonly round: number
  /** What others changed since the edit began, with the value before; empty unless `isOutdated`. */
  readonly others: readonly { readonly at: string; readonly base: unknown; readonly theirs: unknown }[]
  /** Continues with other values, based on what others saved. */
  rebase(values: Readonly<Record<string, unknown>>): void
}

interface Base {
  readonly value: unknown
  readonly etag: string | undefined
}

interface EditState {
  /** What the edited values are based on. */
  readonly bases: Readonly<Record<string, Base>>
  /** Edited values by pointer. */
  readonly values: Readonly<Record<string, unknown>>
}

const noBase: Base = { value: undefined, etag: undefined }
const unedited: EditState = { bases: {}, values: {} }

/**
 * Edits one or several values of waypost.yml, saved together. Values that others save meanwhile replace what was not
 * edited; for the others see `isOutdated`.
 */
export function useDraftEdit(at: string | readonly string[]): DraftEdit {
  const pointers = typeof at === 'string' ? [at] : at
  const [first = ''] = pointers
  const queries = useQueryClient()
  const [state, setState] = useState(unedited)
  // What the edit adds elsewhere can be added by someone else meanwhile.
  const all = [...pointers, ...Object.keys(state.values).filter((one) => !pointers.includes(one))]
  const results = useQueries({ queries: all.map(valueQuery) })
  const loaded = results.slice(0, pointers.length)
  const saving = useSaving(queries)

  const stored: Readonly<Record<string, DraftValue | undefined>> = Object.fromEntries(
    all.map((pointer, index) => [pointer, results[index]?.data]),
  )
  const baseOf = (pointer: string): Base => state.bases[pointer] ?? stored[pointer] ?? noBase
  const ownerOf = (pointer: string) => findInnermost(all, pointer)
  const valueOf = (pointer: string) => (pointer in state.values ? state.values[pointer] : baseOf(pointer).value)
  const read = (pointer: string, of: (owner: string) => unknown) => {
    const owner = ownerOf(pointer)
    return owner === undefined ? undefined : valueAt(of(owner), keysOf(pointer.slice(owner.length)))
  }
  const changed = Object.keys(state.values).flatMap((pointer) =>
    listChanges(baseOf(pointer).value, state.values[pointer], pointer),
  )
  const others = Object.keys(state.values).flatMap((pointer) => {
    const current = stored[pointer]
    const base = baseOf(pointer)
    if (current === undefined || isEqual(current.value, base.value)) return []
    return [{ at: pointer, base: base.value, theirs: current.value }]
  })

  return {
    ...saving.state,
    isLoading: loaded.some(({ isPending }) => isPending),
    loadError: loaded.find(({ error }) => error !== null)?.error,
    changes: changed.length,
    isOutdated: others.length > 0,
    others,
    get: (pointer = first) => read(pointer, valueOf),
    before: (pointer = first) => read(pointer, (owner) => baseOf(owner).value),
    sourceOf: (pointer = first) => stored[pointer]?.source ?? undefined,
    set(pointer, value) {
      setState((current) => {
        const owner = ownerOf(pointer) ?? pointer
        const base = current.bases[owner] ?? (pointers.includes(owner) ? stored[owner] : undefined) ?? noBase
        const before = owner in current.values ? current.values[owner] : base.value
        const next = withValueAt(before, keysOf(pointer.slice(owner.length)), value)
        return withOwner(current, owner, base, next)
      })
    },
    errorOf: (pointer) =>
      saving.state.refused.find(({ at: place }) => place !== null && isWithin(place, pointer))?.message,
    rebase(values) {
      // Keep what was typed in other fields.
      setState((current) =>
        Object.entries(values).reduce(
          (all, [pointer, value]) => withOwner(all, pointer, toBase(stored[pointer]), value),
          current,
        ),
      )
      saving.reset()
    },
    discard() {
      setState(unedited)
      saving.reset()
    },
    async save({ withErrors = false } = {}) {
      const edits = Object.entries(state.values).map(([pointer, value]): Edit => {
        const { etag } = baseOf(pointer)
        return { at: pointer, ...(value === undefined ? {} : { value }), if: etag ?? null }
      })
      const isSaved = await saving.run({ edits }, withErrors)
      // What was typed meanwhile stays.
      if (isSaved) setState((current) => keepTyped(current, state.values, (pointer) => readStored(queries, pointer)))
      return isSaved
    },
  }
}

/** The innermost of the places that contain a pointer. */
function findInnermost(places: readonly string[], pointer: string): string | undefined {
  return places.filter((one) => isWithin(pointer, one)).toSorted((a, b) => b.length - a.length)[0]
}

function readStored(queries: QueryClient, pointer: string): Base {
  return toBase(queries.getQueryData(valueQuery(pointer).queryKey))
}

function keepTyped({ values }: EditState, saved: EditState['values'], baseOf: (pointer: string) => Base): EditState {
  const typed = Object.keys(values).filter((one) => !(one in saved) || !isSame(values[one], saved[one]))
  return {
    values: Object.fromEntries(typed.map((one) => [one, values[one]])),
    bases: Object.fromEntries(typed.map((one) => [one, baseOf(one)])),
  }
}

/** The state with a value of its own for an owner; without one if it is the same as what it is based on. */
function withOwner(state: EditState, owner: string, base: Base, value: unknown): EditState {
  if (isSame(value, base.value)) return withoutOwner(state, owner)
  return { bases: { ...state.bases, [owner]: base }, values: { ...state.values, [owner]: value } }
}

function withoutOwner({ bases, values }: EditState, owner: string): EditState {
  const { [owner]: _value, ...otherValues } = values
  const { [owner]: _base, ...otherBases } = bases
  return { bases: otherBases, values: otherValues }
}

function toBase(value: DraftValue | undefined): Base {
  return { value: value?.value, etag: value?.etag }
}

const idle = { isSaving: false, problem: undefined as unknown, refused: [] as readonly Diagnostic[], round: 0 }

/** Saves changes, and keeps why saving failed. */
function useSaving(queries: QueryClient) {
  const [state, setState] = useState(idle)
  const reset = () => setState(({ round }) => ({ ...idle, round: round + 1 }))
  return {
    state,
    reset,
    /** Returns false if nothing was saved. */
    async run(change: Change, withErrors: boolean): Promise<boolean> {
      setState(({ round }) => ({ ...idle, isSaving: true, round }))
      try {
        await saveChange(queries, change, { withErrors })
        reset()
        return true
      } catch (error) {
        const refused = error instanceof Problem ? ((error.body['diagnostics'] ?? []) as readonly Diagnostic[]) : []
        if (error instanceof Problem && error.code === 'WP_BACKEND_CHANGED') await refreshDraft(queries)
        setState(({ round }) => ({ isSaving: false, problem: error, refused, round }))
        return false
      }
    },
  }
}

/** The edit of a whole file as text. */
export interface TextEdit extends Saving {
  readonly loaded: DraftFile | undefined
  readonly loadError: unknown
  readonly text: string
  /** The text that the edit is based on. */
  readonly base: string
  /** The text that others saved since the edit began; undefined unless `isOutdated`. */
  readonly theirs: string | undefined
  set(text: string): void
  /** Continues with a text that is based on what others saved. */
  rebase(text: string): void
}

export function useFileEdit(file: string): TextEdit {
  const queries = useQueryClient()
  const { data: stored, error } = useQuery(fileQuery(file))
  const [edit, setEdit] = useState<{ readonly text: string; readonly base: DraftFile }>()
  const saving = useSaving(queries)
  const isEdited = edit !== undefined && edit.text !== edit.base.text
  const isOutdated = isEdited && stored !== undefined && stored.text !== edit.base.text
  return {
    ...saving.state,
    loaded: stored,
    loadError: error,
    text: isEdited ? edit.text : (stored?.text ?? ''),
    base: edit?.base.text ?? stored?.text ?? '',
    theirs: isOutdated ? stored.text : undefined,
    changes: isEdited ? 1 : 0,
    isOutdated,
    set(text) {
      if (stored === undefined) return
      setEdit((current) => ({ text, base: current !== undefined && isEdited ? current.base : stored }))
    },
    rebase(text) {
      if (stored !== undefined) setEdit({ text, base: stored })
      saving.reset()
    },
    discard() {
      setEdit(undefined)
      saving.reset()
    },
    async save({ withErrors = false } = {}) {
      if (edit === undefined) return false
      const isSaved = await saving.run({ files: [{ file, text: edit.text, if: edit.base.etag ?? null }] }, withErrors)
      const base = queries.getQueryData(fileQuery(file).queryKey)
      // What was typed meanwhile stays.
      if (isSaved)
        setEdit((current) =>
          base === undefined || current?.text === edit.text ? undefined : current && { text: current.text, base },
        )
      return isSaved
    },
  }
}
