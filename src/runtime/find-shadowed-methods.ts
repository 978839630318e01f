import { shapeOfPath } from '../kit/index.ts'
import type { ManifestMethod, ManifestRoute } from '../release/index.ts'

/**
 * Methods that a path lacks but that a route with a parameter at the same position has, such as `/todo/new` and
 * `/todo/:id`.
 */
export interface ShadowedMethods {
  readonly route: ManifestRoute
  readonly methods: readonly ManifestMethod['method'][]
}

/** Finds the paths for whose missing methods the router would use the route of another path. */
export function findShadowedMethods(routes: readonly ManifestRoute[]): ShadowedMethods[] {
  const root: PathNode = { children: new Map(), routes: [] }
  for (const route of routes) insert(root, route)
  return routes.flatMap((route) => {
    const own = new Set(route.methods.map(({ method }) => method))
    const others = findMatches(root, segmentsOf(route)).filter((other) => other !== route)
    const found = new Set(others.flatMap(({ methods }) => methods.map(({ method }) => method)))
    const methods = [...found].filter((method) => !own.has(method))
    return methods.length === 0 ? [] : [{ route, methods }]
  })
}

/** A tree of routes by path segment. Every parameter is `:`, and the rest of a path `*`, whatever its name. */
interface PathNode {
  readonly children: Map<string, PathNode>
  readonly routes: ManifestRoute[]
}

function segmentsOf({ path }: ManifestRoute): string[] {
  return shapeOfPath(path).split('/')
}

function insert(root: PathNode, route: ManifestRoute): void {
  let node = root
  for (const segment of segmentsOf(route)) {
    const next = node.children.get(segment) ?? { children: new Map(), routes: [] }
    node.children.set(segment, next)
    node = next
  }
  node.routes.push(route)
}

/** Returns the routes whose paths match every path with these segments. */
function findMatches(root: PathNode, segments: readonly string[]): ManifestRoute[] {
  let nodes = [root]
  const rests: PathNode[] = []
  for (const segment of segments) {
    rests.push(...nodes.flatMap(({ children }) => children.get('*') ?? []))
    const names = segment === '*' ? [] : segment === ':' ? [':'] : [segment, ':']
    nodes = nodes.flatMap(({ children }) => names.flatMap((name) => children.get(name) ?? []))
  }
  return [...nodes, ...rests].flatMap((branch) => branch.routes)
}
