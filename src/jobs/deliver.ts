import { executeEvents, type AttemptReport } from '../events/index.ts'
import { userAgent } from '../kit/index.ts'
import { openExecuteNote } from './note-execute.ts'
import type { Host, Identity, ReleaseTerms } from '../host/index.ts'
import type { Outbound } from '../outbound/index.ts'

export interface DeliveringOptions {
  readonly server: { readonly host: Host; readonly outbound: Outbound; terms(): ReleaseTerms }
  readonly identity: Pick<Identity, 'secrets'>
  /** Note in System that somebody delivers, as `event:execute` does. */
  readonly isNoted: boolean
  onAttempt(attempt: AttemptReport): void
  /** Told when System cannot be used, which is then tried again. */
  onWait(error: unknown): void
  /** Told when it ended though nobody stopped it. */
  onEnd(error: unknown): void
}

/** Delivers in the background, by the terms of what is served. @returns the way to stop, which waits for what is under way */
export function startDelivering({ server, identity, isNoted, ...on }: DeliveringOptions): () => Promise<void> {
  const { host } = server
  const stop = new AbortController()
  const note = isNoted ? openExecuteNote(host) : undefined
  const running = executeEvents({
    system: host.system,
    secrets: identity.secrets,
    outbound: server.outbound,
    clock: host.clock,
    userAgent,
    catalog: () => server.terms().catalog,
    settings: () => server.terms().settings,
    refresh: async () => note?.touch(),
    signal: stop.signal,
    watch: true,
    onAttempt: on.onAttempt,
    onError: on.onWait,
  }).catch(on.onEnd)
  return async () => {
    stop.abort()
    await running
    await note?.close()
  }
}
