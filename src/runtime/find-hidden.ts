import type { ManifestMethod, ManifestRoute } from '../release/index.ts'

/** Methods that a path does not have, but that a route with a parameter in its place has: `/todo/new` and `/todo/:id`. */
export interface HiddenMethods {
  readonly route: ManifestRoute
  readonly methods: readonly ManifestMethod['method'][]
}

/** Finds every path whose missing methods a router would look for, and find, at another path. */
export function findHidden(routes: readonly ManifestRoute[]): HiddenMethods[] {
  const root: Branch = { children: new Map(), routes: [] }
  for (const route of routes) plant(root, route)
  return routes.flatMap((route) => {
    const own = new Set(route.methods.map(({ method }) => method))
    const others = findMatches(root, segmentsOf(route)).filter((other) => other !== route)
    const found = new Set(others.flatMap(({ methods }) => methods.map(({ method }) => method)))
    const methods = [...found].filter((method) => !own.has(method))
    return methods.length === 0 ? [] : [{ route, methods }]
  })
}

/** Routes by the segments of their paths; a parameter of any name is `:`. */
interface Branch {
  readonly children: Map<string, Branch>
  readonly routes: ManifestRoute[]
}

function segmentsOf({ path }: ManifestRoute): string[] {
  return path.split('/').map((segment) => (segment.startsWith(':') ? ':' : segment))
}

function plant(root: Branch, route: ManifestRoute): void {
  let branch = root
  for (const segment of segmentsOf(route)) {
    const next = branch.children.get(segment) ?? { children: new Map(), routes: [] }
    branch.children.set(segment, next)
    branch = next
  }
  branch.routes.push(route)
}

/** The routes whose paths match every path of these segments. */
function findMatches(root: Branch, segments: readonly string[]): ManifestRoute[] {
  let branches = [root]
  for (const segment of segments) {
    const names = segment === ':' ? [':'] : [segment, ':']
    branches = branches.flatMap(({ children }) => names.flatMap((name) => children.get(name) ?? []))
  }
  return branches.flatMap((branch) => branch.routes)
}
