import { nearest } from '../../kit/index.ts'

/** What a release says of one event. */
export interface EventTerms {
  readonly description?: string
  /** Who receives it holds one of these; without any, every consumer may. */
  readonly scopes?: readonly string[]
}

/** The events of what is served now, as the active release names them. */
export interface EventCatalog {
  readonly [name: string]: EventTerms
}

export function findEvent(catalog: EventCatalog, name: string): EventTerms | undefined {
  return Object.hasOwn(catalog, name) ? catalog[name] : undefined
}

/** Whether somebody with these scopes may receive an event. */
export function mayReceive({ scopes: wanted = [] }: EventTerms, scopes: readonly string[]): boolean {
  return wanted.length === 0 || wanted.some((scope) => scopes.includes(scope))
}

/** What to say beside an unknown event: the nearest name, or all there are. */
export function hintForEvent(catalog: EventCatalog, name: string): string {
  const names = Object.keys(catalog)
  const guess = nearest(name, names)
  if (guess !== undefined) return `Did you mean "${guess}"?`
  if (names.length === 0) return 'This API has no events.'
  return `There ${names.length === 1 ? 'is' : 'are'}: ${names.join(', ')}.`
}
