import { nearest } from '../kit/index.ts'

/** The events of what is served now, as the active release names them. */
export interface EventCatalog {
  readonly [name: string]: { readonly description?: string; readonly scopes?: readonly string[] }
}

/** What to say beside an unknown event: the nearest name, or all there are. */
export function hintForEvent(catalog: EventCatalog, name: string): string {
  const names = Object.keys(catalog)
  const guess = nearest(name, names)
  if (guess !== undefined) return `Did you mean "${guess}"?`
  return names.length === 0 ? 'This API has no events.' : `There ${names.length === 1 ? 'is' : 'are'}: ${names.join(', ')}.`
}
