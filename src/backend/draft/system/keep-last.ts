/** Returns a cached result, or makes it. Keeps the results of the last keys; failures are not cached. */
export function keepLast<Value>(
  known: Map<string, Promise<Value>>,
  key: string,
  { count, make }: { readonly count: number; readonly make: () => Promise<Value> },
): Promise<Value> {
  const found = known.get(key) ?? make()
  known.delete(key)
  known.set(key, found)
  found.catch(() => known.get(key) === found && known.delete(key))
  for (const oldest of known.keys()) {
    if (known.size <= count) break
    known.delete(oldest)
  }
  return found
}
