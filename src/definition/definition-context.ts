import { canBeDefault, fillReferences, hasReferences, type DeclaredVariable } from '../kit/index.ts'
import type { ClassUse, Location } from './definition.ts'
import { includeSiteOf, type LoadContext } from './load-context.ts'
import { textOf, toValue, type MapNode, type Node } from './node.ts'
import type { ResolvedSchemas } from './resolve-references.ts'
import type { Schemas } from './schemas.ts'
import { didYouMean, type Section } from './section.ts'
import type { Span } from './source.ts'

/** The places of an event that a method dispatches, and of the properties that it has. */
export interface DispatchNodes {
  readonly event: Node
  readonly data: Node | undefined
}

/** Shared state while a definition is created. */
export interface DefinitionContext {
  readonly loading: LoadContext
  readonly schemas: Schemas
  readonly sections: Readonly<Record<'event' | 'rate' | 'action' | 'scope' | 'connection', Section>>
  /** All scopes found so far. */
  readonly scopes: Map<string, { readonly description?: string }>
  readonly classUses: ClassUseNode[]
  /** Where the uses of action classes are written. */
  readonly actionNodes: Map<ClassUse, MapNode>
  /** The classes that cronjobs and listeners use, with their action. */
  readonly codeClasses: { readonly name: string; readonly at: Node; readonly user: 'A cronjob' | 'A listener' }[]
  /** Named schemas that configs of classes name. */
  readonly schemasInConfigs: Set<string>
  /** Routes whose path parameters have no schema. */
  readonly plainPaths: Set<string>
  /** Where methods name the event to dispatch, by `METHOD path`. */
  readonly dispatches: Map<string, DispatchNodes>
  /** The `operationId` of methods, in lower case without `_`, and where it is written. */
  readonly operationIds: Map<string, { readonly id: string; readonly at: Node }>
  /** Schemas of request bodies. */
  readonly requests: Node[]
  /** Requests with files: how many bytes these may have together, and the limit that the method declares. */
  readonly uploads: {
    readonly at: Span
    readonly bytes: number
    readonly limit: number | undefined
    readonly isDeclared: boolean
  }[]
  /** Nodes in which `${env.NAME}` is allowed. */
  readonly variablePlaces: Node[]
  /** Declarations in `env:` with the span of their key. */
  readonly declared: Map<string, { readonly variable: DeclaredVariable; readonly at: Span }>
  /** Checks that need all schemas. */
  readonly afterSchemas: ((resolved: ResolvedSchemas) => void)[]
  /** Whether an action file exists, by path. */
  readonly actionFiles: Map<string, boolean>
}

/** A config, and the class or plugin whose schema it must match. */
export interface ClassUseNode {
  readonly kind: 'connection' | 'action' | 'step' | 'plugin'
  readonly node: Node
}

export function locationOf(at: Span): Location {
  return includeSiteOf(at)
}

/** Scopes of Waypost itself, which projects do not declare. */
const ownScopes = [
  'consumer',
  'backend.read',
  'backend.operate',
  'backend.write',
  'backend.data',
  'backend.deploy',
  'backend.admin',
]

/** Records used scopes. If `scope:` declares any scope, an undeclared one is probably a typo. */
export function recordScopes(
  { scopes, sections, loading: { report } }: DefinitionContext,
  items: readonly Node[],
): void {
  const { entries, incomplete } = sections.scope
  for (const at of items) {
    const name = textOf(at)
    if (name === undefined || hasReferences(name)) continue
    if (!scopes.has(name)) scopes.set(name, {})
    if (incomplete || entries.size === 0 || entries.has(name) || ownScopes.includes(name)) continue
    const suggestion = report.findNearest(name, [...entries.keys(), ...ownScopes])
    const hint = suggestion === undefined ? undefined : didYouMean(suggestion, entries.get(suggestion))
    report.add({ code: 'WP_DEFINITION_SCOPE_UNDECLARED', severity: 'warning', at, parameters: { name }, hint })
  }
}

/** Returns an object without its undefined properties. */
export function omitUndefined<Value extends object>(
  value: Value,
): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  const kept: Record<string, unknown> = {}
  for (const key in value) if (value[key] !== undefined) kept[key] = value[key]
  return kept as never
}

/** Returns the value of a place in which variables are allowed. Their declared defaults are written into it. */
export function configOf({ declared }: DefinitionContext, node: Node): unknown {
  return fillReferences(toValue(node), (name) => {
    const fallback = declared.get(name)?.variable.default
    return fallback === undefined || !canBeDefault(String(fallback)) ? undefined : String(fallback)
  })
}
