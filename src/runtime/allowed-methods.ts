import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route only says that its path does not answer a method. */
    refusesMethod?: boolean
  }
}

/** Whether a path answers other methods than the one that found nothing. */
export interface AllowedMethods {
  /** The methods that a path answers, `HEAD` included; empty when there is nothing at it. */
  of(path: string): readonly string[]
}

/** Remembers every route that is mounted from now on, those of Waypost, of plugins and of the release. */
export function collectAllowedMethods(app: FastifyInstance): AllowedMethods {
  const methodsByUrl = new Map<string, Set<string>>()
  let patterns: readonly { readonly pattern: RegExp; readonly methods: ReadonlySet<string> }[] | undefined
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.refusesMethod === true) return
    const known = methodsByUrl.get(url) ?? new Set()
    for (const one of [method].flat()) if (one !== 'OPTIONS') known.add(one) // a pre-flight finds every path
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

/** A route's path as the router reads it: `:name`, `:name(pattern)`, `:name?` and `*`. */
function toPattern(url: string): RegExp {
  const source = url.replace(/:\w+(\((?:[^()]|\([^()]*\))*\))?\??|\*|[\\^$.|?+()[\]{}]/g, (part) => {
    if (part.startsWith(':')) return part.endsWith('?') ? '[^/]*' : '[^/]+'
    return part === '*' ? '.*' : `\\${part}`
  })
  return new RegExp(`^${source}$`)
}
