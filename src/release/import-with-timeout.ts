import { withDeadline, withDeadlineAfterAbort } from '../kit/index.ts'
import { errors } from './errors.ts'
import { importArtifact } from './load-artifacts.ts'

/** How long loading the code of a project may take. */
export interface ImportLimits {
  /** 10 s by default. */
  readonly timeoutMs?: number
  /** After it aborts, an import gets only a short grace period. */
  readonly signal?: AbortSignal | undefined
  /** 500 ms by default, which is enough for an import without pending promises. */
  readonly graceMs?: number
}

/** Artifacts whose import timed out. Node evaluates each module only once, so a retry gets less time. */
const timedOut = new Set<string>()

/**
 * Imports a registered artifact like `importArtifact`, with a time limit. Node itself waits forever and keeps the
 * pending import until the artifact has other content.
 *
 * @param file its source file, for the error
 * @throws WP_RUNTIME_IMPORT_WAITS, and the errors of `importArtifact`
 */
export async function importWithTimeout(
  hash: string,
  file: string,
  { timeoutMs = 10_000, signal, graceMs = 500 }: ImportLimits = {},
): Promise<unknown> {
  const onTimeout = () => {
    timedOut.add(hash)
    throw errors.WP_RUNTIME_IMPORT_WAITS({ file })
  }
  const ms = timedOut.has(hash) ? Math.min(graceMs, timeoutMs) : timeoutMs
  // The longer deadline is the outer one: its timer ends with the shorter one and does not keep the process alive.
  const importing = withDeadlineAfterAbort(importArtifact(hash), { signal, limitMs: () => graceMs, late: onTimeout })
  const module = await withDeadline(importing, ms, onTimeout)
  timedOut.delete(hash)
  return module
}
