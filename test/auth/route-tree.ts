import { adminRoutes } from '../../src/backend/api/routes.ts'

/** A mounted route. */
export interface Route {
  readonly method: string
  readonly path: string
}

/** The routes of a server, from what Fastify prints. Those of the admin API, which are forwarded, are not part of it. */
export function listMounted(tree: string): Route[] {
  const forwarded = adminRoutes.map(({ method, path }) => ({ method, path: `/backend${path}` }))
  return [
    ...forwarded,
    { method: 'GET', path: '/backend/openapi.json' },
    ...readTree(tree).filter(({ method, path }) => method !== 'OPTIONS' && !/^(\/backend\/?)?\*?$/.test(path)),
  ]
}

/** Parses what Fastify prints: a tree of path parts, each with its methods. */
function readTree(tree: string): Route[] {
  const parts: string[] = []
  return tree.split('\n').flatMap((line) => {
    const match = /^([│ ]*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line)
    if (match === null) return []
    const depth = match[1]!.length / 4
    parts.splice(depth, parts.length, match[2]!)
    return (match[3]?.split(', ') ?? []).map((method) => ({ method, path: parts.join('') }))
  })
}
