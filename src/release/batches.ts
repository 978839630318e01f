import { setImmediate as nextTurn } from 'node:timers/promises'

const maxItems = 100
const maxBytes = 4 * 1024 * 1024

/**
 * Splits a list into batches of limited count and size, each processed in its own turn of the event loop. An item
 * larger than the limit is a batch of its own.
 */
export async function* inBatches<Item>(
  items: readonly Item[],
  bytesOf: (item: Item) => number,
): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  let bytes = 0
  for (const item of items) {
    const size = bytesOf(item)
    if (batch.length >= maxItems || (batch.length > 0 && bytes + size > maxBytes)) {
      yield batch
      await nextTurn()
      batch = []
      bytes = 0
    }
    batch.push(item)
    bytes += size
  }
  if (batch.length === 0) return
  yield batch
  await nextTurn()
}
