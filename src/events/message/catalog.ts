import { nearest } from '../../kit/index.ts'

/** The definition of an event in a release. */
export interface EventDefinition {
  readonly description?: string
  /** Subscribers need one of these, by default the scope `consumer`. An empty list admits every user. */
  readonly scopes?: readonly string[]
  /** Set if no consumer receives it, only listeners. */
  readonly private?: true
  readonly listeners?: readonly ListenerTerms[]
}

/** What dispatching needs to know of a listener. */
export interface ListenerTerms {
  readonly name: string
  /** See the definition of a listener. */
  readonly exclusive?: true | string
}

/** The events that the active release declares, by name. */
export interface EventCatalog {
  readonly [name: string]: EventDefinition
}

export function findEvent(catalog: EventCatalog, name: string): EventDefinition | undefined {
  return Object.hasOwn(catalog, name) ? catalog[name] : undefined
}

/** Whether only listeners receive an event. No user can subscribe to it, so its messages need no fan-out. */
export function isPrivate(catalog: EventCatalog, name: string): boolean {
  return findEvent(catalog, name)?.private === true
}

/** The scope that an event requires unless it lists its own. */
export const defaultScope = 'consumer'

/** Returns the scopes of which a subscriber needs one. An empty list means that no scope is needed. */
export function scopesOf({ scopes = [defaultScope] }: EventDefinition): readonly string[] {
  return scopes
}

/** Whether a user with these scopes may receive an event. */
export function mayReceive(event: EventDefinition, scopes: readonly string[]): boolean {
  if (event.private === true) return false
  const required = scopesOf(event)
  return required.length === 0 || required.some((scope) => scopes.includes(scope))
}

/** Returns the events that a user with these scopes may receive. The names of other events are not disclosed. */
export function receivableEvents(catalog: EventCatalog, scopes: readonly string[]): EventCatalog {
  return Object.fromEntries(Object.entries(catalog).filter(([, event]) => mayReceive(event, scopes)))
}

/** Returns the hint for an unknown event: the nearest name, or all names. */
export function hintForEvent(catalog: EventCatalog, name: string): string {
  const names = Object.keys(catalog)
  const guess = nearest(name, names)
  if (guess !== undefined) return `Did you mean "${guess}"?`
  if (names.length === 0) return 'No events are available to you.'
  return `Available: ${names.join(', ')}.`
}
