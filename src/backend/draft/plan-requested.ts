import { openEditing } from '../../definition/index.ts'
import type { Draft } from './draft.ts'
import type { DraftFiles } from './file-change.ts'
import { planEdits, type RequestedEdits } from './plan-edits.ts'

/**
 * Plans edits of the files of a draft. Files alone are not parsed: those of a draft that is too large to be parsed can be
 * replaced.
 * @returns the conflicts if the current state is not the expected one
 * @throws the errors of `planEdits`
 */
export async function planRequested(
  { thread }: Draft,
  { texts }: DraftFiles,
  request: RequestedEdits,
): Promise<ReturnType<typeof planEdits>> {
  const { edits = [] } = request
  if (edits.length === 0) return planEdits({ texts, editing: openEditing(undefined, { texts }) }, request)
  return thread.ask('planEdits', { texts, request })
}
