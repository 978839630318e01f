import { withDeadline, type Clock } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { renewClaim, type Claim } from './claim.ts'

export interface RenewalOptions {
  readonly system: System
  readonly clock: Clock
  readonly leaseMs: number
  /** Returns what has been logged so far. */
  log(): string | null
  /** Called when another server may take over the run, or has done so. */
  onLost(): void
}

/** Renews the lease of a run until the returned function is called. */
export function startClaimRenewal(claim: Claim, { system, clock, leaseMs, log, onLost }: RenewalOptions): () => void {
  const intervalMs = leaseMs / 4
  let renewedAt = clock.monotonic()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  async function renew(): Promise<void> {
    const began = clock.monotonic()
    const isOwn = await withDeadline(
      renewClaim(system, claim, { leaseMs, log: log() }).catch(() => undefined),
      intervalMs,
      () => undefined,
    )
    if (isStopped) return
    if (isOwn === true) renewedAt = began
    // Before the lease expires, so that this run has ended when the next one starts.
    else if (isOwn === false || clock.monotonic() - renewedAt >= leaseMs * 0.7) return onLost()
    plan()
  }

  function plan(): void {
    timer = setTimeout(() => void renew(), intervalMs)
  }

  plan()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
