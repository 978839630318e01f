import { withDeadline, withDeadlineAfterAbort } from '../kit/index.ts'
import { errors } from './errors.ts'
import { importArtifact } from './load-artifacts.ts'

/** How long the code of a project may take to load. */
export interface ImportLimits {
  /** 10 s by default. */
  readonly timeoutMs?: number
  /** Once it aborts, an import is waited for only a moment longer. */
  readonly signal?: AbortSignal | undefined
}

/** Enough for an import that waits for nothing. */
const momentMs = 500

/** Artifacts whose import missed its deadline: Node evaluates each once, so that they get less time when they are asked for again. */
const abandoned = new Set<string>()

/**
 * Imports a registered artifact as `importArtifact` does, but does not wait for ever: Node itself never gives up, and
 * keeps the import that waits until the artifact is another one.
 *
 * @param file its source, for the error
 * @throws WP_RUNTIME_IMPORT_WAITS, and what `importArtifact` throws
 */
export async function importInTime(
  hash: string,
  file: string,
  { timeoutMs = 10_000, signal }: ImportLimits = {},
): Promise<unknown> {
  const late = () => {
    abandoned.add(hash)
    throw errors.WP_RUNTIME_IMPORT_WAITS({ file })
  }
  const ms = abandoned.has(hash) ? Math.min(momentMs, timeoutMs) : timeoutMs
  // The longer deadline is the outer one: its timer ends with the shorter one, and does not keep the process.
  const importing = withDeadlineAfterAbort(importArtifact(hash), { signal, limitMs: () => momentMs, late })
  const module = await withDeadline(importing, ms, late)
  abandoned.delete(hash)
  return module
}
