import { isWaypostError } from '../kit/index.ts'
import type { CheckReadiness } from '../runtime/index.ts'
import type { Feed, System } from '../store/index.ts'
import { checkSystem } from '../host/index.ts'

type Part = 'starting' | 'stopping' | 'release'

/** Whether a server should get requests. */
export interface Readiness {
  readonly check: CheckReadiness
  /** The server does not serve the active release yet. */
  isBehind: boolean
  /** Whether the server serves no release, because the active one failed to start. */
  readonly hasNoRelease: boolean
  /** Sets the reason why one part is not ready; undefined clears it. */
  block(part: Part, reason: string | undefined): void
}

/** Queries System only if the change feed has not just been read, because anyone can request this endpoint. */
export function makeReadiness(system: System, feed: Pick<Feed, 'isFresh'>): Readiness {
  const blocked = new Map<Part, string>()
  let pendingCheck: Promise<string | undefined> | undefined

  async function askSystem(): Promise<string | undefined> {
    try {
      await checkSystem(system)
      return undefined
    } catch (error) {
      const isReadOnly = isWaypostError(error) && error.code === 'WP_STORE_READ_ONLY'
      return isReadOnly ? 'System does not accept changes' : 'System does not respond'
    }
  }

  return {
    isBehind: false,
    get hasNoRelease() {
      return blocked.has('release')
    },
    async check() {
      const reason = blocked.get('stopping') ?? blocked.get('release') ?? blocked.get('starting')
      if (reason !== undefined || feed.isFresh()) return reason
      pendingCheck ??= askSystem().finally(() => (pendingCheck = undefined))
      return pendingCheck
    },
    block(part, reason) {
      if (reason === undefined) blocked.delete(part)
      else blocked.set(part, reason)
    },
  }
}
