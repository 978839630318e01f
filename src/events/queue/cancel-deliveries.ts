import { cancelDeliveries as cancelChunk, type System } from '../../store/index.ts'

const limit = 1000
const mostChunks = 50

/**
 * Takes what waits for a subscription out of the queue; what is being posted comes to its end. Very much that waits is
 * left to those who claim it, who see that nobody is there to receive it.
 */
export async function cancelDeliveries(system: System, subscriptionId: string): Promise<void> {
  for (let count = 0; count < mostChunks; count++) {
    const cancelled = await cancelChunk(system, system.db, { subscriptions: [subscriptionId], limit })
    if (cancelled < limit) return
  }
}
