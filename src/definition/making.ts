import { hasReferences } from '../kit/index.ts'
import type { DeclaredVariable } from '../kit/index.ts'
import type { Location } from './definition.ts'
import { siteOf, type Loading } from './loading.ts'
import { textOf, type MapNode, type Node } from './node.ts'
import type { ResolvedSchemas } from './resolve-references.ts'
import type { Schemas } from './schemas.ts'
import { didYouMean, type Section } from './section.ts'
import type { Span } from './source.ts'

/** What the parts of a definition share while it is made. */
export interface Making {
  readonly loading: Loading
  readonly schemas: Schemas
  readonly sections: Readonly<Record<'event' | 'rate' | 'action' | 'scope', Section>>
  /** Every scope that was met. */
  readonly scopes: Map<string, { readonly description?: string }>
  readonly classUses: ClassUseNode[]
  /** Schemas of request bodies. */
  readonly requests: Node[]
  /** Where `${env.NAME}` may stand. */
  readonly variablePlaces: Node[]
  /** What `env:` declares, with the key that names it. */
  readonly declared: Map<string, { readonly variable: DeclaredVariable; readonly at: Span }>
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

/** Scopes of Waypost's own, which no project declares. */
const ownScopes = ['consumer', 'backend.read', 'backend.write', 'backend.deploy', 'backend.admin']

/** Adds scopes by naming them. Once `scope:` declares any, one that it does not declare is most likely a typo. */
export function nameScopes({ scopes, sections, loading: { report } }: Making, items: readonly Node[]): void {
  const { entries, incomplete } = sections.scope
  for (const at of items) {
    const name = textOf(at)
    if (name === undefined || hasReferences(name)) continue
    if (!scopes.has(name)) scopes.set(name, {})
    if (incomplete || entries.size === 0 || entries.has(name) || ownScopes.includes(name)) continue
    const near = report.findNearest(name, [...entries.keys(), ...ownScopes])
    const hint = near === undefined ? undefined : didYouMean(near, entries.get(near))
    report.add({ code: 'WP_DEFINITION_SCOPE_UNDECLARED', severity: 'warning', at, parameters: { name }, hint })
  }
}

/** An object without the members that are undefined. */
export function compact<Value extends object>(value: Value): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as never
}
