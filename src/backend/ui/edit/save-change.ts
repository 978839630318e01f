import type { QueryClient } from '@tanstack/react-query'
import { call, type ResponseOf, type Input } from '../api/call.ts'
import { makeStore } from '../session/store.ts'
import { describeEdits, type SaveDescription } from './describe-save.ts'

/** A change: edits of values, and new texts of files. */
export type Change = Input<'PATCH /draft'>['body']
export type Edit = NonNullable<Change['edits']>[number]
type Saved = ResponseOf<'PATCH /draft'>

/** A save of this window. */
export interface LastSaved extends Saved, SaveDescription {
  /** The path of the page that saved it. */
  readonly from: string
  /** Whether undoing it loses no data. */
  readonly canUndo: boolean
}

const lastSaved = makeStore<LastSaved | undefined>(undefined)

export const lastSave = {
  ...lastSaved,
  set: (saved: Saved, about: SaveDescription, canUndo = true) =>
    lastSaved.set({ ...saved, ...about, canUndo, from: location.pathname }),
  clear: () => lastSaved.set(undefined),
}

interface SaveOptions {
  /** Whether new errors in the definition do not refuse the change. */
  readonly withErrors?: boolean
  /** Called before the pages load the new state: leaves the page of what no longer exists. */
  onSaved?(): Promise<unknown>
}

/** Writes a change as one revision. @throws Problem, for example with diagnostics or conflicts */
export async function saveChange(
  queries: QueryClient,
  change: Change,
  { withErrors = false, onSaved }: SaveOptions = {},
): Promise<Saved> {
  const body = { ...change, ...(withErrors ? { with_errors: true } : {}) }
  const saved = await call('PATCH /draft', { body })
  lastSave.set(saved, describeEdits(change.edits ?? [], saved.inverse.edits))
  await onSaved?.()
  await refreshDraft(queries)
  return saved
}

/** Loads again what a save can change. */
export async function refreshDraft(queries: QueryClient): Promise<void> {
  const stale = [
    'table-api',
    'definition',
    'method',
    'class',
    'table',
    'migration',
    'connection',
    'variable',
    'cronjob',
    'scope',
  ]
  for (const key of stale) void queries.invalidateQueries({ queryKey: [key] })
  await queries.invalidateQueries({ queryKey: ['draft'] })
}

/** Undoes the last save. @throws Problem if the values were changed since */
export async function undoLastSave(queries: QueryClient): Promise<void> {
  const saved = lastSave.get()
  if (saved === undefined) return
  await saveChange(queries, saved.inverse, { withErrors: true })
  lastSave.clear()
}
