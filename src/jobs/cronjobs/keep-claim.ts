import { withDeadline, type Clock } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { prolongClaim, type Claim } from './claim.ts'

export interface KeepOptions {
  readonly system: System
  readonly clock: Clock
  readonly leaseMs: number
  /** Called when another server may take over, or did. */
  onLost(): void
}

/** Prolongs the lease of a run until the returned function is called. */
export function keepClaim(claim: Claim, { system, clock, leaseMs, onLost }: KeepOptions): () => void {
  const everyMs = leaseMs / 4
  let heldSince = clock.monotonic()
  let timer: NodeJS.Timeout | undefined
  let isOver = false

  async function beat(): Promise<void> {
    const began = clock.monotonic()
    const answer = await withDeadline(
      prolongClaim(system, claim, leaseMs).catch(() => undefined),
      everyMs,
      () => undefined,
    )
    if (isOver) return
    if (answer === true) heldSince = began
    // Before the lease is over, so that this run has ended when the next one begins.
    else if (answer === false || clock.monotonic() - heldSince >= leaseMs * 0.7) return onLost()
    plan()
  }

  function plan(): void {
    timer = setTimeout(() => void beat(), everyMs)
  }

  plan()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
