import type { FindUnready } from '../runtime/index.ts'
import type { Feed, System } from '../store/index.ts'
import { checkSystem } from '../host/index.ts'

type Part = 'stopping' | 'release'

/** Whether a server should get requests. */
export interface Readiness {
  readonly find: FindUnready
  /** The active release is not the one that is served. */
  isBehind: boolean
  /** Says why it is not ready, as far as one part of it knows; undefined takes it back. */
  block(part: Part, reason: string | undefined): void
}

/** Asks System only when the change feed has not heard of it just now: everybody may ask this question. */
export function makeReadiness(system: System, feed: Pick<Feed, 'isFresh'>): Readiness {
  const blocked = new Map<Part, string>()
  let asking: Promise<string | undefined> | undefined

  async function askSystem(): Promise<string | undefined> {
    try {
      await checkSystem(system)
      return undefined
    } catch {
      return 'System does not respond'
    }
  }

  return {
    isBehind: false,
    async find() {
      const reason = blocked.get('stopping') ?? blocked.get('release')
      if (reason !== undefined || feed.isFresh()) return reason
      asking ??= askSystem().finally(() => (asking = undefined))
      return asking
    },
    block(part, reason) {
      if (reason === undefined) blocked.delete(part)
      else blocked.set(part, reason)
    },
  }
}
