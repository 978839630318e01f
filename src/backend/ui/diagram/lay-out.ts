import { Graph, layout } from '@dagrejs/dagre'
import type { Entry } from '../api/call.ts'

export type Table = Entry<'GET /table'>

/** A table in the diagram. */
export interface Box {
  readonly table: Table
  readonly left: number
  readonly top: number
  readonly height: number
  /** The columns that fit; the page of the table has the others. */
  readonly columns: Table['columns']
}

export interface Drawing {
  readonly width: number
  readonly height: number
  readonly boxes: readonly Box[]
  /** The references, as paths of SVG from the table that refers. */
  readonly lines: readonly { readonly name: string; readonly path: string }[]
}

export const boxWidth = 232
const titleHeight = 32
const rowHeight = 20
const padding = 8
const maxColumns = 12

interface Placed {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Places the tables of a connection so that references cross little: tables are to the left of those they refer to. */
export function layOut(tables: readonly Table[]): Drawing {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 32, edgesep: 16, ranksep: 72, marginx: 16, marginy: 16 })
  graph.setDefaultEdgeLabel(() => ({}))
  const sizes = new Map(tables.map((table) => [table.name, sizeOf(table)]))
  for (const { name } of tables) graph.setNode(name, { width: boxWidth, height: sizes.get(name)!.height })
  for (const { name, references } of tables)
    for (const { table, columns } of references)
      if (sizes.has(table) && table !== name) graph.setEdge(name, table, {}, columns.join())
  layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { readonly width?: number; readonly height?: number }
  const boxes = tables.map((table): Box => {
    const { x, y, height: own } = graph.node(table.name) as unknown as Placed
    return { table, left: x - boxWidth / 2, top: y - own / 2, height: own, columns: sizes.get(table.name)!.columns }
  })
  const lines = graph.edges().map((edge) => {
    const { points } = graph.edge(edge) as unknown as { readonly points: readonly { x: number; y: number }[] }
    return { name: `${edge.v} ${edge.w} ${edge.name ?? ''}`, path: smooth(points) }
  })
  return { width, height, boxes, lines }
}

function sizeOf({ columns, key, references }: Table) {
  const refers = (name: string) => references.some((one) => one.columns.includes(name))
  const rankOf = (name: string) => (key.includes(name) ? 0 : refers(name) ? 1 : 2)
  const ordered = columns.toSorted((a, b) => rankOf(a.name) - rankOf(b.name))
  const shown = ordered.length > maxColumns ? ordered.slice(0, maxColumns - 1) : ordered
  const rows = shown.length + (shown.length < ordered.length ? 1 : 0)
  return { columns: shown, height: titleHeight + rows * rowHeight + padding }
}

/** A line through the middles of the points, with rounded corners. */
function smooth(points: readonly { readonly x: number; readonly y: number }[]): string {
  const [first, ...others] = points
  const last = others.at(-1)!
  const parts = others.slice(0, -1).map((point, index) => {
    const next = others[index + 1]!
    const isEnd = index === others.length - 2
    const [x, y] = isEnd ? [last.x, last.y] : [(point.x + next.x) / 2, (point.y + next.y) / 2]
    return `Q${point.x},${point.y} ${x},${y}`
  })
  return `M${first!.x},${first!.y} ${parts.length === 0 ? `L${last.x},${last.y}` : parts.join(' ')}`
}
