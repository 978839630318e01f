import { messageOf } from '../kit/index.ts'
import { startDelivering as deliver } from '../jobs/index.ts'
import type { DevSession } from './dev-options.ts'

/** Delivers in the background, and shows each attempt. @returns the way to stop, which waits for what is under way */
export function startDelivering({ options: { console }, server, identity }: DevSession): () => Promise<void> {
  return deliver({
    server,
    identity,
    recordsActivity: false,
    onAttempt: (attempt) => console.delivered(attempt),
    onWait: (error) => console.warned(`Event delivery paused: ${messageOf(error)}`),
    onEnd: (error) => console.warned(`Event delivery stopped: ${messageOf(error)}`),
  })
}
