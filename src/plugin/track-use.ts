/**
 * Returns a record that notes which of its values are read.
 * @returns the record, and the names that have been read so far
 */
export function trackUse<Value>(record: Readonly<Record<string, Value>>): {
  readonly tables: Readonly<Record<string, Value>>
  readonly used: Set<string>
} {
  const used = new Set<string>()
  const tables = new Proxy(record, {
    get(target, name) {
      if (typeof name === 'string') used.add(name)
      return Reflect.get(target, name) as unknown
    },
  })
  return { tables, used }
}
