import {
  importWithTimeout,
  registerArtifacts,
  type Artifact,
  type ClosedModules,
  type StoredRelease,
} from '../release/index.ts'
import type { Log } from '../contract/index.ts'
import type { Host } from './host.ts'

/** A release with its artifacts. */
export interface ReleaseToServe {
  readonly release: StoredRelease
  readonly artifacts: readonly Artifact[]
  /** After an abort, waits only a moment longer for code that is loading. */
  readonly signal?: AbortSignal | undefined
}

/** A part of a manifest that names an action. */
interface ActionUse {
  readonly action: { readonly artifact: string; readonly file: string } | object
}

/**
 * Loads the default exports of action files, by artifact hash. Each hash is evaluated once per process.
 * @throws WP_RUNTIME_IMPORT_WAITS, or the error of a file that cannot be loaded
 */
export async function loadModules(
  { imports }: Pick<Host, 'imports'>,
  { artifacts, signal = imports?.signal }: ReleaseToServe,
  uses: Iterable<ActionUse>,
): Promise<ReadonlyMap<string, unknown>> {
  const files = new Map(
    [...uses].flatMap(({ action }) => ('artifact' in action ? [[action.artifact, action.file]] : [])),
  )
  const modules = new Map<string, unknown>()
  if (files.size === 0) return modules
  registerArtifacts(artifacts)
  for (const [hash, file] of files) {
    const module = (await importWithTimeout(hash, file, { ...imports, signal })) as { default?: unknown }
    modules.set(hash, module.default)
  }
  return modules
}

/** Logs what code that is no longer served has left open. */
export function logClosed({ left, errors }: ClosedModules, log: Log): void {
  for (const { kind, place, isEnded } of left) {
    if (isEnded) log.warn({ kind, place }, 'ended what code that is no longer served left running')
    else log.warn({ kind, place }, 'code that is no longer served left something open')
  }
  for (const error of errors) log.warn({ err: error }, error.message)
}
