const mostListed = 20

/** Where a value has fields that what was made of it lacks, as JSON pointers without the first slash: `entry/0/due_date`. */
export function listDropped(value: unknown, kept: unknown): readonly string[] {
  const dropped: string[] = []
  collect(dropped, { value, kept, path: '' })
  return dropped
}

function collect(dropped: string[], { value, kept, path }: { value: unknown; kept: unknown; path: string }): void {
  if (!isObject(value) || !isObject(kept)) return
  for (const [key, item] of Object.entries(value)) {
    if (dropped.length >= mostListed) return
    if (Object.hasOwn(kept, key)) collect(dropped, { value: item, kept: kept[key], path: `${path}${key}/` })
    else dropped.push(path + key)
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
