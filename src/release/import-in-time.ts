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

/** Artifacts whose import was given up: it still waits, as Node evaluates each once, and is not waited for as long again. */
const givenUp = new Set<string>()

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
  const { promise: late, reject } = Promise.withResolvers<never>()
  const giveUp = () => {
    givenUp.add(hash)
    reject(errors.WP_RUNTIME_IMPORT_WAITS({ file }))
  }
  const isBrief = signal?.aborted || givenUp.has(hash)
  let timer = setTimeout(giveUp, isBrief ? Math.min(momentMs, timeoutMs) : timeoutMs)
  const hurry = () => {
    clearTimeout(timer)
    timer = setTimeout(giveUp, momentMs)
  }
  signal?.addEventListener('abort', hurry)
  try {
    const module = await Promise.race([importArtifact(hash), late])
    givenUp.delete(hash)
    return module
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', hurry)
  }
}
