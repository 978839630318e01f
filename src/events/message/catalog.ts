import { nearest } from '../../kit/index.ts'

/** What a release says of one event. */
export interface EventTerms {
  readonly description?: string
  /** Who receives it holds one of these, by default the scope `consumer`; with an empty list everybody may. */
  readonly scopes?: readonly string[]
}

/** The events of what is served now, as the active release names them. */
export interface EventCatalog {
  readonly [name: string]: EventTerms
}

export function findEvent(catalog: EventCatalog, name: string): EventTerms | undefined {
  return Object.hasOwn(catalog, name) ? catalog[name] : undefined
}

/** What users have who may subscribe at all. */
export const usualScope = 'consumer'

/** The scopes of which somebody holds one who receives an event; none are everybody's. */
export function scopesOf({ scopes = [usualScope] }: EventTerms): readonly string[] {
  return scopes
}

/** Whether somebody with these scopes may receive an event. */
export function mayReceive(event: EventTerms, scopes: readonly string[]): boolean {
  const wanted = scopesOf(event)
  return wanted.length === 0 || wanted.some((scope) => scopes.includes(scope))
}

/** The events that somebody with these scopes may receive: of others not even the names are told. */
export function receivable(catalog: EventCatalog, scopes: readonly string[]): EventCatalog {
  return Object.fromEntries(Object.entries(catalog).filter(([, event]) => mayReceive(event, scopes)))
}

/** What to say beside an unknown event: the nearest name, or all there are. */
export function hintForEvent(catalog: EventCatalog, name: string): string {
  const names = Object.keys(catalog)
  const guess = nearest(name, names)
  if (guess !== undefined) return `Did you mean "${guess}"?`
  if (names.length === 0) return 'There are no events that you may receive.'
  return `There ${names.length === 1 ? 'is' : 'are'}: ${names.join(', ')}.`
}
