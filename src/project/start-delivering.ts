import { executeEvents } from '../events/index.ts'
import { messageOf, userAgent } from '../kit/index.ts'
import type { DevSession } from './dev-options.ts'

/** Delivers in the background. @returns the way to stop, which waits for what is under way */
export function startDelivering({ options: { console }, server, identity }: DevSession): () => Promise<void> {
  const stop = new AbortController()
  const { host, outbound } = server
  const running = executeEvents({
    system: host.system,
    secrets: identity.secrets,
    outbound,
    clock: host.clock,
    userAgent,
    catalog: () => server.terms().catalog,
    settings: () => server.terms().settings,
    signal: stop.signal,
    watch: true,
    onAttempt: (attempt) => console.delivered(attempt),
    onError: (error) => console.warned(`Events wait: ${messageOf(error)}`),
  }).catch((error: unknown) => console.warned(`Events are not delivered: ${messageOf(error)}`))
  return async () => {
    stop.abort()
    await running
  }
}
