import type { Texts } from '../../definition/index.ts'
import type { Diagnostic } from '../../kit/index.ts'
import { errors, ProblemWith } from '../errors.ts'
import { DraftBroken } from './draft-broken.ts'
import type { Draft, DraftAuthor } from './draft.ts'
import type { PlannedDraft } from './planned-draft.ts'
import type { DraftFiles } from './file-change.ts'

export interface SavedChange<Plan extends PlannedDraft> {
  readonly plan: Plan
  /** The files that were written or deleted. */
  readonly files: readonly string[]
  readonly isServed: boolean
  /** The problems before the change. */
  readonly before: readonly Diagnostic[]
}

interface SaveOptions {
  readonly withErrors?: boolean | undefined
  /** The user who makes the change. */
  readonly by: DraftAuthor
}

/** How often a change is planned again because another program has changed its files. */
const maxAttempts = 5

/**
 * Plans a change for the current files and writes it, as one revision. Waits until it is served or known not to be. If
 * another program changes one of the files meanwhile, the change is planned again.
 * @throws WP_BACKEND_DRAFT_ERRORS if it adds errors; WP_BACKEND_DRAFT_BUSY, and the errors of `plan`
 */
export async function saveChange<Plan extends PlannedDraft>(
  draft: Draft,
  plan: (files: DraftFiles) => Plan | Promise<Plan>,
  { withErrors = false, by }: SaveOptions,
): Promise<SavedChange<Plan>> {
  const { served, ...saved } = await draft.exclusive(async () => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const files = await draft.read()
      const planned = await plan(files)
      const names = planned.changes.map(({ file }) => file)
      const { isServed: wasServed, diagnostics: before } = await draft.status()
      if (names.length === 0) return { plan: planned, files: names, before, served: Promise.resolve(wasServed) }
      if (!withErrors) await assertNoErrors(draft, { files, planned, found: await draft.findNewErrors(planned) })
      const written = await draft.write(planned.changes, { code: planned.code, by })
      if (written !== undefined) return { plan: planned, files: names, before, served: written.served }
    }
    throw errors.WP_BACKEND_DRAFT_BUSY({ attempts: maxAttempts })
  })
  return { ...saved, isServed: await served }
}

async function assertNoErrors(
  { thread }: Draft,
  {
    files,
    planned,
    found,
  }: { readonly files: DraftFiles; readonly planned: PlannedDraft; readonly found: readonly Diagnostic[] },
): Promise<void> {
  if (found.length === 0) return
  const count = found.length === 1 ? '1 error' : `${found.length} errors`
  const kept = planned.changes.flatMap(({ file, text }) => (text === undefined ? [] : [[file, text] as const]))
  const texts = new Map([...files.texts, ...kept])
  const diagnostics = await thread.ask('format', { texts, diagnostics: found })
  throw new ProblemWith(errors.WP_BACKEND_DRAFT_ERRORS({ count }), { diagnostics })
}

/** @throws WP_BACKEND_DRAFT_BROKEN with the diagnostics, if planning fails because of them */
export async function planOrExplain<Plan>({ thread }: Draft, texts: Texts, work: () => Promise<Plan>): Promise<Plan> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DraftBroken)) throw error
    const diagnostics = await thread.ask('format', { texts, diagnostics: error.diagnostics })
    throw new ProblemWith(errors.WP_BACKEND_DRAFT_BROKEN(), { diagnostics })
  }
}

/** Names a problem without its line, which an edit above it changes. */
function nameProblem({ code, file, message }: Diagnostic): string {
  return `${code} ${file} ${message}`
}

/** Returns the problems that were not there before. */
export function subtractKnown(found: readonly Diagnostic[], before: readonly Diagnostic[]): readonly Diagnostic[] {
  const known = Map.groupBy(before, nameProblem)
  return found.filter((one) => known.get(nameProblem(one))?.pop() === undefined)
}
