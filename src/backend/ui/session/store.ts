import { useSyncExternalStore } from 'react'

/** A value outside of components that they can follow. */
export interface Store<Value> {
  get(): Value
  set(value: Value): void
  /** @returns a function that stops */
  listen(listener: () => void): () => void
}

export function makeStore<Value>(value: Value): Store<Value> {
  let current = value
  const listeners = new Set<() => void>()
  return {
    get: () => current,
    set(next) {
      current = next
      for (const listener of listeners) listener()
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export function useStore<Value>(store: Pick<Store<Value>, 'get' | 'listen'>): Value {
  return useSyncExternalStore(store.listen, store.get)
}
