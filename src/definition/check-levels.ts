import type { Node, ScalarNode } from './node.ts'
import type { Report } from './report.ts'
import type { Level, ReferenceUse, Resolved } from './walk-schema.ts'

export interface Levels {
  readonly levels: ReadonlyMap<Node, Level>
  readonly resolved: ReadonlyMap<ReferenceUse, Resolved>
  readonly report: Report
}

/** Reports what needs resolved references: reference loops, and required properties that may be misspelt. */
export function checkLevels({ levels, resolved, report }: Levels): void {
  const targets = new Map<Level, readonly Edge[]>()
  for (const level of new Set(levels.values())) {
    const edges = level.references.flatMap((use) => {
      const to = levels.get(resolved.get(use)?.node as Node)
      return to === undefined ? [] : [{ use, to }]
    })
    targets.set(level, edges)
  }
  reportLoops(targets, report)
  for (const level of targets.keys()) reportRequired(level, targets, report)
}

interface Edge {
  readonly use: ReferenceUse
  readonly to: Level
}

type Graph = ReadonlyMap<Level, readonly Edge[]>

/** Depth first without recursion, because a chain of references may be as long as a file. */
function reportLoops(graph: Graph, report: Report): void {
  const done = new Set<Level>()
  for (const start of graph.keys()) {
    if (done.has(start)) continue
    const path: { level: Level; next: number; use?: ReferenceUse }[] = [{ level: start, next: 0 }]
    const inPath = new Set([start])
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const edge = graph.get(top.level)?.[top.next]
      top.next += 1
      if (edge === undefined) {
        done.add(top.level)
        inPath.delete(top.level)
        path.pop()
      } else if (inPath.has(edge.to)) {
        const from = path.findIndex(({ level }) => level === edge.to)
        reportLoop([...path.slice(from + 1).flatMap(({ use }) => use ?? []), edge.use], report)
      } else if (!done.has(edge.to)) {
        inPath.add(edge.to)
        path.push({ level: edge.to, next: 0, use: edge.use })
      }
    }
  }
}

function reportLoop(uses: readonly ReferenceUse[], report: Report): void {
  const shown = uses.length > 8 ? [...uses.slice(0, 4), undefined, ...uses.slice(-3)] : uses
  const names = shown.map((use) => use?.text.replace('schema:///', '') ?? '…')
  const parameters = { chain: [names.at(-1), ...names].join(' → ') }
  report.add({ code: 'WP_DEFINITION_SCHEMA_LOOP', at: uses.at(-1)!.at, parameters })
}

const maxFollowed = 1000

function reportRequired(level: Level, graph: Graph, report: Report): void {
  const missing = level.required.filter(({ value }) => !level.properties.has(String(value)))
  if (missing.length === 0) return
  const reached = new Set([level])
  // The set grows while it is iterated. This visits all referenced levels.
  for (const one of reached) {
    if (one.open || reached.size > maxFollowed) return
    for (const { to } of graph.get(one) ?? []) reached.add(to)
  }
  const properties = new Set(Array.from(reached, (one) => [...one.properties]).flat())
  for (const item of missing) reportMissing(item, properties, report)
}

function reportMissing(item: ScalarNode, properties: ReadonlySet<string>, report: Report): void {
  const name = String(item.value)
  if (properties.has(name)) return
  if (properties.size === 0) return // required alone is clear
  const suggestion = report.findNearest(name, properties)
  const hint = suggestion === undefined ? undefined : `Did you mean "${suggestion}"?`
  report.add({ code: 'WP_DEFINITION_SCHEMA_REQUIRED', severity: 'warning', at: item, parameters: { name }, hint })
}
