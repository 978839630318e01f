import { loadArtifacts, type Artifact, type StoredRelease } from '../release/index.ts'
import { importArtifact, registerArtifacts } from '../runtime/index.ts'
import type { System } from '../store/index.ts'

/** A release and, where they are at hand, its artifacts; else they are loaded from System. */
export interface ToServe {
  readonly release: StoredRelease
  readonly artifacts?: readonly Artifact[] | undefined
}

/** Anything that an action stands in. */
interface UsesAction {
  readonly action: { readonly artifact: string } | object
}

/** The default exports of the files of actions, by the hash of their artifacts; each hash is evaluated once a process. */
export async function loadModules(
  system: System,
  { release, artifacts }: ToServe,
  uses: Iterable<UsesAction>,
): Promise<ReadonlyMap<string, unknown>> {
  const hashes = new Set([...uses].flatMap(({ action }) => ('artifact' in action ? [action.artifact] : [])))
  const modules = new Map<string, unknown>()
  if (hashes.size === 0) return modules
  registerArtifacts(artifacts ?? (await loadArtifacts(system, release, Object.keys(release.manifest.artifacts))))
  for (const hash of hashes) {
    const module = (await importArtifact(hash)) as { default?: unknown }
    modules.set(hash, module.default)
  }
  return modules
}
