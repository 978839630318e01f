import { loadArtifacts, type Artifact, type StoredRelease, importInTime, registerArtifacts } from '../release/index.ts'
import type { Host } from './host.ts'

/** A release and, where they are at hand, its artifacts; else they are loaded from System. */
export interface ToServe {
  readonly release: StoredRelease
  readonly artifacts?: readonly Artifact[] | undefined
  /** Once it aborts, code that is being loaded is waited for only a moment longer. */
  readonly signal?: AbortSignal | undefined
}

/** Anything that an action stands in. */
interface UsesAction {
  readonly action: { readonly artifact: string; readonly file: string } | object
}

/**
 * The default exports of the files of actions, by the hash of their artifacts; each hash is evaluated once a process.
 * @throws WP_RUNTIME_IMPORT_WAITS, or what keeps a file from being loaded
 */
export async function loadModules(
  { system, imports }: Pick<Host, 'system' | 'imports'>,
  { release, artifacts, signal = imports?.signal }: ToServe,
  uses: Iterable<UsesAction>,
): Promise<ReadonlyMap<string, unknown>> {
  const files = new Map(
    [...uses].flatMap(({ action }) => ('artifact' in action ? [[action.artifact, action.file]] : [])),
  )
  const modules = new Map<string, unknown>()
  if (files.size === 0) return modules
  registerArtifacts(artifacts ?? (await loadArtifacts(system, release, Object.keys(release.manifest.artifacts))))
  for (const [hash, file] of files) {
    const module = (await importInTime(hash, file, { ...imports, signal })) as { default?: unknown }
    modules.set(hash, module.default)
  }
  return modules
}
