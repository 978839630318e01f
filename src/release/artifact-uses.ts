import { forgetArtifacts, registerArtifacts, reloadArtifacts, urlOfArtifact, wasLoaded } from './load-artifacts.ts'
import type { Artifact } from './manifest.ts'
import { closeModules, haveResources, watchResources, type ClosedModules } from './module-resources.ts'

/** The artifacts of a release, as long as something runs its code. */
export interface ArtifactUse {
  /**
   * Whether modules that the next artifacts do not contain have something to close, so that the requests that use them
   * must have ended first.
   */
  mustClose(next: readonly Artifact[]): boolean
  /** Closes the modules that nothing else uses, and frees what this process remembers of them. */
  end(): Promise<ClosedModules>
}

export interface UseOptions {
  /** Notes what code opens at any time, not only while it is loaded. */
  readonly isDevelopment: boolean
}

/** How many uses each artifact has. */
const uses = new Map<string, number>()
/** Artifacts without a use whose modules were evaluated. They may import one that was closed after them. */
const idle = new Set<string>()

/** Registers artifacts until the use has ended. */
export function useArtifacts(artifacts: readonly Artifact[], { isDevelopment }: UseOptions): ArtifactUse {
  const hashes = artifacts.map(({ hash }) => hash)
  for (const hash of hashes) {
    uses.set(hash, (uses.get(hash) ?? 0) + 1)
    idle.delete(hash)
  }
  registerArtifacts(artifacts, { isInUse: true })
  const stopWatching = isDevelopment ? watchResources() : undefined
  let ended: Promise<ClosedModules> | undefined
  async function end(): Promise<ClosedModules> {
    const unused = hashes.filter((hash) => {
      const left = uses.get(hash)! - 1
      if (left > 0) uses.set(hash, left)
      else uses.delete(hash)
      return left === 0
    })
    const urls = new Set(unused.map(urlOfArtifact))
    for (const hash of unused) if (wasLoaded(hash)) idle.add(hash)
    if (haveResources(urls)) {
      reloadArtifacts(idle) // before anything waits: the next use must not get closed modules
      idle.clear()
    }
    forgetArtifacts(unused)
    const closed = await closeModules(urls)
    stopWatching?.()
    return closed
  }
  return {
    mustClose(next) {
      const kept = new Set(next.map(({ hash }) => hash))
      return haveResources(new Set(hashes.filter((hash) => !kept.has(hash)).map(urlOfArtifact)))
    },
    end: () => (ended ??= end()),
  }
}
