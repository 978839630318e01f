import { executeEvents, type AttemptReport, type RunReport } from '../events/index.ts'
import { userAgent } from '../kit/index.ts'
import { openExecutionHeartbeat } from './execution-heartbeat.ts'
import { openRuns } from './listeners/open-runs.ts'
import type { Host, Identity, ReleaseTerms } from '../host/index.ts'
import type { Outbound } from '../outbound/index.ts'

export interface DeliveryOptions {
  readonly server: { readonly host: Host; readonly outbound: Outbound; terms(): ReleaseTerms }
  readonly identity: Pick<Identity, 'secrets'>
  /** Record in System that a worker is active, as `event:execute` does. */
  readonly recordsActivity: boolean
  onAttempt(attempt: AttemptReport): void
  /** Called after each run of a listener. */
  onRun?(report: RunReport): void
  /** Called with each line that listeners print; by default, they are printed to stderr. */
  readonly onOutput?: (line: string) => void
  /** Called when System is unavailable. The worker then tries again. */
  onWait(error: unknown): void
  /** Called when System is available again. */
  onRecovered(): void
  /** Called when the worker ended without being stopped. */
  onEnd(error: unknown): void
}

/**
 * Delivers events in the background with the settings of the release that is served.
 * @returns a function that stops the worker and waits for attempts in flight
 */
export function startDelivering({ server, identity, recordsActivity, ...on }: DeliveryOptions): () => Promise<void> {
  const { host } = server
  const stop = new AbortController()
  const heartbeat = recordsActivity ? openExecutionHeartbeat(host) : undefined
  const running = executeEvents({
    system: host.system,
    secrets: identity.secrets,
    outbound: server.outbound,
    clock: host.clock,
    userAgent,
    catalog: () => server.terms().catalog,
    settings: () => server.terms().settings,
    refresh: async () => heartbeat?.beat(),
    runs: openRuns({
      host,
      terms: server.terms,
      logLevel: 'info',
      onRun: on.onRun,
      onError: on.onWait,
      onOutput: on.onOutput,
    }),
    signal: stop.signal,
    watch: true,
    onAttempt: on.onAttempt,
    onError: on.onWait,
    onRecovered: on.onRecovered,
  }).catch(on.onEnd)
  return async () => {
    stop.abort()
    await running
    await heartbeat?.close()
  }
}
