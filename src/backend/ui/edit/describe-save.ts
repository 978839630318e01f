import { isWithin, keysOf, listChanges, valueAt } from './values.ts'

// Describes a save for messages, and finds the pages that show them.

interface Edit {
  readonly at: string
  readonly value?: unknown
}

/** Values that were saved together in an entry of waypost.yml. */
export interface SavedEntry {
  /** The name that users see: `POST /todo`, `todo_created`. */
  readonly name: string
  /** The keys that changed in it; empty if it was added or removed. */
  readonly fields: readonly string[]
}

export interface SaveDescription {
  readonly entries: readonly SavedEntry[]
  /** The pages of what was saved, with their section: `['events', 'todo_created']`. */
  readonly pages: readonly Page[]
}

type Page = readonly string[]

/** The pages of the sections of waypost.yml. All other sections are on the page Settings. */
const sections: Readonly<Record<string, string>> = {
  routes: 'routes',
  schema: 'schemas',
  action: 'actions',
  event: 'events',
  cronjob: 'cronjobs',
  connection: 'connections',
  scope: 'scopes',
}

/** Describes what edits of waypost.yml changed, and the pages that show it. The inverse edits contain the previous values. */
export function describeEdits(edits: readonly Edit[], inverse: readonly Edit[]): SaveDescription {
  const changed = edits.flatMap(({ at, value }) => {
    const owner = inverse.find((one) => isWithin(at, one.at))
    if (owner === undefined) return [] // it did not change
    return listChanges(valueAt(owner.value, keysOf(at.slice(owner.at.length))), value, at)
  })
  const places = changed.map(placeOf)
  const byName = Map.groupBy(places, ({ name }) => name)
  const entries = [...byName].map(([name, all]) => {
    const fields = all.flatMap(({ field }) => field ?? [])
    return { name, fields: fields.length < all.length ? [] : [...new Set(fields)] }
  })
  return { entries, pages: places.map(({ page }) => page) }
}

/** Keys that only group others. */
const groups: ReadonlySet<string> = new Set(['config', 'properties'])

function placeOf(at: string) {
  const [kind = '', name = kind, ...inner] = keysOf(at)
  const fieldOf = (keys: readonly string[]) => keys.find((key) => !groups.has(key)) ?? keys[0]
  const [part, method, ...rest] = inner
  if (kind !== 'routes' || part !== 'methods' || method === undefined)
    return { name, field: fieldOf(inner), page: pageOf(kind, name) }
  return { name: `${method} ${name}`, field: fieldOf(rest), page: pageOf(kind, `${method} ${name}`) }
}

/** The page that shows a value of waypost.yml, with its section. */
export function pageOfPointer(at: string): Page {
  return placeOf(at).page
}

/** The page of an entry that is renamed. */
export function pageOf(kind: string, name: string): Page {
  return [sections[kind] ?? 'settings', name]
}

/** Whether a page shows what was saved: the page of an entry, its list, or a method of a saved path. */
export function isOneOf(pages: readonly Page[], [section, entry]: Page): boolean {
  return pages.some(
    ([own, name]) =>
      own === section && (entry === undefined || entry === name || (own === 'routes' && entry.endsWith(` ${name}`))),
  )
}
