/** The kinds of things that a deployment can change, in display order. */
export const changeKinds = [
  'route', 'group', 'static', 'schema', 'scope', 'event', 'rate', 'listener', 'cronjob', 'connection', 'plugin', 'setting', 'variable', 'migration',
] as const // prettier-ignore

export type ChangeKind = (typeof changeKinds)[number]

/** A short description of one change. */
export interface ChangeDetail {
  readonly text: string
  /** Whether working callers or subscribers may fail after the change. */
  readonly breaking: boolean
  /** The routes and events that it breaks, if they are not the changed thing itself. */
  readonly affects?: readonly string[]
  /** Set if only the built code differs. */
  readonly code?: true
}

/** Something that a deployment adds, changes or removes. */
export interface ReleaseChange {
  readonly change: 'added' | 'changed' | 'removed'
  readonly kind: ChangeKind
  /** For a route its method and path. */
  readonly name: string
  /** Whether any detail is breaking. */
  readonly breaking: boolean
  readonly details: readonly ChangeDetail[]
  /** Set for a route that accepts calls without a token and did not before. */
  readonly public?: boolean
  /** `file:line` of a route in the project that is being deployed. */
  readonly source?: string
  /** How often the methods that it removes or breaks were called in the last 24 hours, if they were. */
  readonly calls?: number
}

/** Returns a detail that breaks no caller. */
export function harmless(text: string): ChangeDetail {
  return { text, breaking: false }
}

/** Returns a detail that says that the built code of something differs. */
export function changedCode(text: string): ChangeDetail {
  return { text, breaking: false, code: true }
}

/**
 * Leaves out that built code differs, also where nothing else does: `dev` builds the same sources to other code than a
 * deployment.
 */
export function withoutCode(changes: readonly ReleaseChange[]): readonly ReleaseChange[] {
  return changes.flatMap((change) => {
    const details = change.details.filter(({ code }) => code !== true)
    return details.length === 0 && change.details.length > 0 ? [] : [{ ...change, details }]
  })
}

export function breaking(text: string): ChangeDetail {
  return { text, breaking: true }
}

/** Describes a changed, added or removed value, such as `schedule "0 4 * * *", was "0 3 * * *"`. */
export function describeValueChange(label: string, before: unknown, after: unknown): string {
  const [was, is] = [before, after].map((value) => JSON.stringify(value))
  if (was === undefined) return `${label} ${is} added`
  return is === undefined ? `${label} ${was} removed` : `${label} ${is}, was ${was}`
}

/** Returns the keys whose values differ. */
export function differingKeys(before: object, after: object): readonly string[] {
  const [was, is] = [before, after] as Readonly<Record<string, unknown>>[]
  const keys = [...new Set([...Object.keys(was!), ...Object.keys(is!)])]
  return keys.filter((key) => JSON.stringify(was![key]) !== JSON.stringify(is![key])).toSorted()
}

/** The names that `embed.lines.limit` has. */
const maxPathLength = 3

/** Returns the places at which two configs differ, for example `embed.lines.limit`. */
export function differingPaths(before: unknown, after: unknown, path: readonly string[] = []): readonly string[] {
  if (!isMap(before) || !isMap(after) || path.length === maxPathLength) return [path.join('.')]
  return differingKeys(before, after).flatMap((key) => differingPaths(before[key], after[key], [...path, key]))
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
