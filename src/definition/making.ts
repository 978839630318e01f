import type { Location } from './definition.ts'
import { siteOf, type Loading } from './loading.ts'
import type { MapNode, Node } from './node.ts'
import type { ResolvedSchemas } from './resolve-references.ts'
import type { Schemas } from './schemas.ts'
import type { Section } from './section.ts'
import type { Span } from './source.ts'

/** What the parts of a definition share while it is made. */
export interface Making {
  readonly loading: Loading
  readonly schemas: Schemas
  readonly sections: Readonly<Record<'event' | 'rate' | 'action', Section>>
  /** Every scope that was met. */
  readonly scopes: Map<string, { readonly description?: string }>
  readonly classUses: ClassUseNode[]
  /** Where `${env.NAME}` may stand. */
  readonly variablePlaces: Node[]
  /** Checks that need all schemas. */
  readonly afterSchemas: ((resolved: ResolvedSchemas) => void)[]
  /** Whether an action's file is there, by its path. */
  readonly actionFiles: Map<string, boolean>
}

export interface ClassUseNode {
  readonly kind: 'connection' | 'action'
  readonly node: MapNode
}

export function locationOf(at: Span): Location {
  return siteOf(at)
}

/** Adds scopes by naming them. */
export function nameScopes({ scopes }: Making, names: readonly string[]): void {
  for (const name of names) if (!scopes.has(name)) scopes.set(name, {})
}

/** An object without the members that are undefined. */
export function compact<Value extends object>(value: Value): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as never
}
