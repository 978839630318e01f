import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from '../../contract/index.ts'
import { defaultSettings, parseSettings, resolveReferences } from '../../kit/index.ts'
import type { Manifest } from '../manifest.ts'

/** A part of a release that lets more people read or change data than its author probably meant. */
export interface AccessWarning {
  /** The code of the warning of `validate` about the same thing. */
  readonly code: string
  /** `definition` if only the files show it. */
  readonly kind: 'route' | 'event' | 'definition'
  /** For a route its method and path; for something in the files, `file:line`. */
  readonly name: string
  readonly text: string
}

/** Returns the warnings about the access to a release that the active one does not have. */
export function compareAccessWarnings(before: Manifest | undefined, after: Manifest): readonly AccessWarning[] {
  const found = findAccessWarnings(after)
  if (found.length === 0 || before === undefined) return found
  const known = findAccessWarnings(before)
  return found.filter((one) => !known.some((other) => isDeepStrictEqual(one, other)))
}

/** Only what a manifest shows, so that a server finds it, too, which has no definition files. */
function findAccessWarnings(manifest: Manifest): readonly AccessWarning[] {
  return [...findPublicMethods(manifest), ...findOpenEvents(manifest)]
}

function findPublicMethods({ routes }: Manifest): readonly AccessWarning[] {
  return routes.flatMap(({ path, methods }) =>
    methods.flatMap(({ method, public: isPublic, scopes, rate }): AccessWarning[] => {
      if (!isPublic) return []
      const one = { kind: 'route', name: `${method} ${path}` } as const
      const isIgnored = scopes.length > 0
      const isUnlimited = method !== 'GET' && rate === undefined
      return [
        ...(isIgnored
          ? [{ ...one, code: 'WP_DEFINITION_PUBLIC_SCOPES', text: 'is public, so its scopes are ignored' }]
          : []),
        ...(isUnlimited
          ? [
              {
                ...one,
                code: 'WP_DEFINITION_PUBLIC_CHANGE',
                text: 'changes data, and anyone can call it without limit',
              },
            ]
          : []),
      ]
    }),
  )
}

function findOpenEvents(manifest: Manifest): readonly AccessWarning[] {
  const events = Object.entries(manifest.events)
  if (events.length === 0) return []
  const defaults = readDefaultScopes(manifest.config['scopes_default'])
  const publicSchemas = collectPublicSchemas(manifest)
  return events.flatMap(([name, { scopes, schema }]): AccessWarning[] => {
    const given = scopes?.find((scope) => defaults.includes(scope))
    if ((scopes !== undefined && given === undefined) || isPublicSchema(schema, publicSchemas)) return []
    const one = { kind: 'event', name } as const
    if (given === undefined) {
      const text = 'every user with the scope consumer can subscribe to it'
      return [{ ...one, code: 'WP_DEFINITION_EVENT_OPEN', text }]
    }
    const text = `every new user gets the scope ${given} and can subscribe to it`
    return [{ ...one, code: 'WP_DEFINITION_EVENT_DEFAULT_SCOPE', text }]
  })
}

/** Unknown if they depend on variables, which each server has its own values of. */
function readDefaultScopes(written: unknown): readonly string[] {
  if (written === undefined) return defaultSettings.scopes_default
  const { value, missing } = resolveReferences({ scopes_default: written }, {})
  if (missing.length > 0) return []
  const { settings, problems } = parseSettings(value)
  return problems.length > 0 ? [] : settings.scopes_default
}

/** Collects the references to all schemas that successful responses of public methods contain. */
function collectPublicSchemas({ routes, schemas }: Manifest): ReadonlySet<string> {
  const methods = routes.flatMap((route) => route.methods).filter((method) => method.public)
  const responses = methods.flatMap((method) =>
    Object.entries(method.responses).flatMap(([status, schema]) => (status.startsWith('2') ? [schema] : [])),
  )
  const found = new Set(responses.flatMap(listReferences))
  // The set grows while it is iterated.
  for (const reference of found) {
    const name = nameOf(reference)
    if (name === undefined || !Object.hasOwn(schemas, name)) continue
    for (const inner of listReferences(schemas[name])) found.add(inner)
  }
  return found
}

function isPublicSchema(schema: JsonSchema | undefined, publicSchemas: ReadonlySet<string>): boolean {
  const reference = typeof schema === 'object' && schema !== null ? schema['$ref'] : undefined
  if (typeof reference !== 'string') return false
  return publicSchemas.has(reference) || publicSchemas.has(reference.split('#')[0]!)
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

function nameOf(reference: string): string | undefined {
  const name = /^schema:\/\/\/([^#]+)/.exec(reference)?.[1]
  return name === undefined ? undefined : decodeURIComponent(name)
}
