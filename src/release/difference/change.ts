/** The kinds of things that a deployment changes, in the order in which they are shown. */
export const changeKinds = [
  'route', 'schema', 'scope', 'event', 'rate', 'cronjob', 'connection', 'plugin', 'setting', 'variable', 'migration',
] as const // prettier-ignore

export type ChangeKind = (typeof changeKinds)[number]

/** What changed about one thing, in a few words. */
export interface ChangeDetail {
  readonly text: string
  /** Callers or subscribers that work now may fail afterwards. */
  readonly breaking: boolean
  /** The routes and events that it breaks, where those are others than the thing itself. */
  readonly affects?: readonly string[]
}

/** One thing that a deployment adds, changes or removes. */
export interface ReleaseChange {
  readonly change: 'added' | 'changed' | 'removed'
  readonly kind: ChangeKind
  /** Of a route its method and path. */
  readonly name: string
  /** Whether any of its details is. */
  readonly breaking: boolean
  readonly details: readonly ChangeDetail[]
  /** `file:line` of a route in the project that is deployed. */
  readonly source?: string
}

/** A detail that breaks nobody. */
export function harmless(text: string): ChangeDetail {
  return { text, breaking: false }
}

export function breaking(text: string): ChangeDetail {
  return { text, breaking: true }
}

/** `schedule "0 4 * * *", was "0 3 * * *"`, or what came or went. */
export function tellValue(label: string, before: unknown, after: unknown): string {
  const [was, is] = [before, after].map((value) => JSON.stringify(value))
  if (was === undefined) return `${label} ${is} added`
  return is === undefined ? `${label} ${was} removed` : `${label} ${is}, was ${was}`
}

/** The keys under which two maps differ. */
export function differingKeys(before: object, after: object): readonly string[] {
  const [was, is] = [before, after] as Readonly<Record<string, unknown>>[]
  const keys = [...new Set([...Object.keys(was!), ...Object.keys(is!)])]
  return keys.filter((key) => JSON.stringify(was![key]) !== JSON.stringify(is![key])).toSorted()
}
