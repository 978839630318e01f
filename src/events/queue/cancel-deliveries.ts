import { cancelDeliveries as cancelChunk, type System } from '../../store/index.ts'

const chunkSize = 1000
const maxChunks = 50

/**
 * Cancels the pending deliveries of a subscription. Attempts in flight finish. Beyond 50,000 deliveries, the rest is
 * cancelled when it is claimed.
 */
export async function cancelDeliveries(system: System, subscriptionId: string): Promise<void> {
  for (let count = 0; count < maxChunks; count++) {
    const cancelled = await cancelChunk(system, system.db, { subscriptions: [subscriptionId], limit: chunkSize })
    if (cancelled < chunkSize) return
  }
}
