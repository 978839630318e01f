/**
 * Finds connections that must be replaced, for example because they were opened before one of them was found to be
 * read-only: they may lead to the former primary. All pools of a database share one.
 */
export interface Staleness {
  opened(client: object): void
  /** @param client the connection that was found to be read-only, if it belongs to a pool */
  foundReadOnly(client?: object): void
  /** Replaces all connections that were opened until now, because their settings may have been changed. */
  replaceAll(): void
  isStale(client: object): boolean
}

const firstPauseMs = 1000
const maxPauseMs = 10_000

/** If new connections only read too, as with a standby that is used on purpose, they are replaced less and less often. */
export function makeStaleness(now: () => number = () => performance.now()): Staleness {
  const openedAt = new WeakMap<object, number>()
  let since = -Infinity
  let pauseMs = firstPauseMs
  const isStale = (client: object) => (openedAt.get(client) ?? Infinity) <= since
  return {
    opened: (client) => void openedAt.set(client, now()),
    foundReadOnly(client) {
      if (now() - since <= pauseMs) return
      const wasReplaced = client !== undefined && since !== -Infinity && !isStale(client)
      pauseMs = wasReplaced ? Math.min(2 * pauseMs, maxPauseMs) : firstPauseMs
      since = now()
    },
    replaceAll: () => void (since = now()),
    isStale,
  }
}
