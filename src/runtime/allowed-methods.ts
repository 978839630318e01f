import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on routes that only reject a method for their path. */
    rejectsMethod?: boolean
  }
}

/** Finds out whether a path supports other methods than the one that was not found. */
export interface AllowedMethods {
  /** The methods that a path supports, including `HEAD`; empty if the path has no route. */
  of(path: string): readonly string[]
}

/** Records all routes that are mounted from now on: those of Waypost, of plugins and of the release. */
export function collectAllowedMethods(app: FastifyInstance): AllowedMethods {
  const methodsByUrl = new Map<string, Set<string>>()
  let patterns: readonly { readonly pattern: RegExp; readonly methods: ReadonlySet<string> }[] | undefined
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.rejectsMethod === true) return
    const known = methodsByUrl.get(url) ?? new Set()
    for (const one of [method].flat()) if (one !== 'OPTIONS') known.add(one) // a preflight request matches every path
    methodsByUrl.set(url, known)
    patterns = undefined
  })
  return {
    of(path) {
      patterns ??= [...methodsByUrl].map(([url, methods]) => ({ pattern: toPattern(url), methods }))
      return [...new Set(patterns.flatMap(({ pattern, methods }) => (pattern.test(path) ? [...methods] : [])))]
    },
  }
}

/**
 * Converts a route's path to a regular expression, as the router interprets it: `:name`, `:name(pattern)`, `:name?` and
 * `*`.
 */
function toPattern(url: string): RegExp {
  const source = url.replace(/:\w+(\((?:[^()]|\([^()]*\))*\))?\??|\*|[\\^$.|?+()[\]{}]/g, (part) => {
    if (part.startsWith(':')) return part.endsWith('?') ? '[^/]*' : '[^/]+'
    return part === '*' ? '.*' : `\\${part}`
  })
  return new RegExp(`^${source}$`)
}
