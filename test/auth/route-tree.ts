/** A mounted route. */
export interface Route {
  readonly method: string
  readonly path: string
}

/** Parses what Fastify prints: a tree of path parts, each with its methods. */
export function readTree(tree: string): Route[] {
  const parts: string[] = []
  return tree.split('\n').flatMap((line) => {
    const match = /^([│ ]*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line)
    if (match === null) return []
    const depth = match[1]!.length / 4
    parts.splice(depth, parts.length, match[2]!)
    return (match[3]?.split(', ') ?? []).map((method) => ({ method, path: parts.join('') }))
  })
}
