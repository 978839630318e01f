import type { RunOptions, RunReport } from '../../events/index.ts'
import type { Host, ReleaseTerms } from '../../host/index.ts'
import { ChildExecutor } from './child-executor.ts'
import { listenerTerms } from './listener-terms.ts'
import type { ProcessOptions } from './run-process.ts'

interface OpenRunsOptions {
  readonly host: Host
  terms(): ReleaseTerms
  /** The number of child processes, 1 by default. */
  readonly count?: number | undefined
  readonly logLevel: ProcessOptions['logLevel']
  readonly onRun?: ((report: RunReport) => void) | undefined
  readonly onError?: ((error: unknown) => void) | undefined
  readonly onOutput?: ((line: string) => void) | undefined
}

/** What a worker needs to run the listeners of the active release in child processes. Starts none yet. */
export function openRuns({ host, terms, count = 1, logLevel, onRun, onError, onOutput }: OpenRunsOptions): RunOptions {
  const executor = new ChildExecutor({
    host,
    count,
    releaseId: () => terms().releaseId,
    memory: () => terms().settings.listener_memory,
    onError: (error) => onError?.(error),
    logLevel,
    onOutput,
  })
  let known: { readonly of: ReleaseTerms['listeners']; readonly listed: ReturnType<typeof listenerTerms> } | undefined
  return {
    executor,
    listeners() {
      const { listeners } = terms()
      if (known?.of !== listeners) known = { of: listeners, listed: listenerTerms({ listeners }) }
      return known.listed
    },
    ...(onRun === undefined ? {} : { onRun }),
  }
}
