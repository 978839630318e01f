import { setImmediate as nextTurn } from 'node:timers/promises'

const most = 100
const mostBytes = 4 * 1024 * 1024

/**
 * Parts of a list that are read or written at once, each in a turn of the event loop: what is large by itself, other items
 * as many as are not large together.
 */
export async function* inBatches<Item>(
  items: readonly Item[],
  bytesOf: (item: Item) => number,
): AsyncGenerator<Item[]> {
  let some: Item[] = []
  let bytes = 0
  for (const item of items) {
    const more = bytesOf(item)
    if (some.length >= most || (some.length > 0 && bytes + more > mostBytes)) {
      yield some
      await nextTurn()
      some = []
      bytes = 0
    }
    some.push(item)
    bytes += more
  }
  if (some.length === 0) return
  yield some
  await nextTurn()
}
