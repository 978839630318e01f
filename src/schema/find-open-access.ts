import type { JsonSchema } from '../contract/index.ts'
import { parseReference, type NamedSchemas } from './references.ts'

/** A part of a definition that lets more people read or change data than its author probably meant. */
export interface AccessWarning {
  readonly code:
    | 'WP_DEFINITION_EVENT_DEFAULT_SCOPE'
    | 'WP_DEFINITION_EVENT_OPEN'
    | 'WP_DEFINITION_PUBLIC_CHANGE'
    | 'WP_DEFINITION_PUBLIC_SCOPES'
    /** Only of a release that replaces another one. */
    | 'WP_DEFINITION_STEP_REMOVED'
  readonly kind: 'route' | 'event'
  /** For a route its method and path. */
  readonly name: string
  readonly text: string
  /** The scope of an event that every new user gets. */
  readonly scope?: string
}

/** What a definition and the manifest of a release have in common. */
interface AccessParts {
  readonly routes: readonly {
    readonly path: string
    readonly methods: readonly {
      readonly method: string
      readonly public: boolean
      readonly scopes: readonly string[]
      readonly rate?: string
      readonly responses: Readonly<Record<string, JsonSchema>>
      readonly responseTypes?: Readonly<Record<string, Readonly<Record<string, { readonly schema?: JsonSchema }>>>>
    }[]
  }[]
  readonly events: Readonly<
    Record<string, { readonly schema?: JsonSchema; readonly scopes?: readonly string[]; readonly private?: true }>
  >
  readonly schemas: NamedSchemas
}

/**
 * Finds what lets in more people than meant. The one rule for files, whose warnings have a place, and for releases.
 * @param defaultScopes the scopes of each new user; empty if they are not known
 */
export function findOpenAccess(parts: AccessParts, defaultScopes: readonly string[]): readonly AccessWarning[] {
  return [...findPublicMethods(parts), ...findOpenEvents(parts, defaultScopes)]
}

/** A rate limit shows that public access is intended: a form, a sign-in, the callback of a partner. */
function findPublicMethods({ routes }: AccessParts): readonly AccessWarning[] {
  return routes.flatMap(({ path, methods }) =>
    methods.flatMap(({ method, public: isPublic, scopes, rate }): AccessWarning[] => {
      if (!isPublic) return []
      const one = { kind: 'route', name: `${method} ${path}` } as const
      const ignored = {
        ...one,
        code: 'WP_DEFINITION_PUBLIC_SCOPES',
        text: 'is public, so its scopes are ignored',
      } as const
      const text = 'changes data, and anyone can call it without limit'
      const change = { ...one, code: 'WP_DEFINITION_PUBLIC_CHANGE', text } as const
      return [...(scopes.length > 0 ? [ignored] : []), ...(method !== 'GET' && rate === undefined ? [change] : [])]
    }),
  )
}

/** Not events whose data a public method returns as well: its 2xx response has the schema of the event or contains it. */
function findOpenEvents(parts: AccessParts, defaultScopes: readonly string[]): readonly AccessWarning[] {
  const events = Object.entries(parts.events)
  const isPublicSchema = events.length === 0 ? () => false : makePublicTest(parts)
  return events.flatMap(([name, { scopes, schema, private: isPrivate }]): AccessWarning[] => {
    if (isPrivate === true) return []
    const scope = scopes?.find((one) => defaultScopes.includes(one))
    if ((scopes !== undefined && scope === undefined) || isPublicSchema(schema)) return []
    const one = { kind: 'event', name } as const
    if (scope === undefined) {
      const text = 'every user with the scope consumer can subscribe to it'
      return [{ ...one, code: 'WP_DEFINITION_EVENT_OPEN', text }]
    }
    const text = `every new user gets the scope ${scope} and can subscribe to it`
    return [{ ...one, code: 'WP_DEFINITION_EVENT_DEFAULT_SCOPE', text, scope }]
  })
}

/** Returns a function that tells whether public methods return a schema, by all references in their successful responses. */
function makePublicTest({ routes, schemas }: AccessParts): (schema: JsonSchema | undefined) => boolean {
  const methods = routes.flatMap((route) => route.methods).filter((method) => method.public)
  const responses = methods.flatMap(({ responses, responseTypes = {} }) =>
    [...Object.entries(responses), ...Object.entries(responseTypes)].filter(([status]) => status.startsWith('2')),
  )
  const found = new Set(listReferences(responses))
  // The set grows while it is iterated.
  for (const reference of found) {
    const { name } = parseReference(reference)
    if (name === undefined || !Object.hasOwn(schemas, name)) continue
    for (const inner of listReferences(schemas[name])) found.add(inner)
  }
  return (schema) => {
    const reference = typeof schema === 'object' ? schema['$ref'] : undefined
    return typeof reference === 'string' && (found.has(reference) || found.has(reference.split('#')[0]!))
  }
}

/** Lists every `$ref` in a schema, at any depth. */
function listReferences(schema: unknown): readonly string[] {
  const found: string[] = []
  const pending = [schema]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value !== 'object' || value === null) continue
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && typeof inner === 'string') found.push(inner)
      else pending.push(inner)
    }
  }
  return found
}
