import { LineCounter } from 'yaml'
import { hasReferences } from '../kit/index.ts'
import { maxDepth } from './check-yaml.ts'
import { makePointer } from '../schema/index.ts'
import type { LoadContext } from './load-context.ts'
import type { Entry, Node } from './node.ts'
import type { Origin, Span } from './source.ts'

/** The nodes of a value that is not in a file. */
export interface ComposedValue {
  readonly root: Node
  /** Returns the JSON pointer of a node by its column. Each node has its own column on a single line. */
  pointerAt(column: number): string
}

type Key = string | number

/** Converts a plain JSON value to nodes. Parts that are too deep or too many are omitted and reported. */
export function composeValue(value: unknown, loading: LoadContext): ComposedValue {
  const places = new Places()

  function compose(given: unknown, at: Span, depth: number): Node {
    loading.budget.remaining -= 1
    if (loading.budget.remaining < 0) return { kind: 'broken', ...at }
    if (typeof given !== 'object' || given === null) return composeScalar(given as string, at, loading)
    if (depth >= maxDepth) {
      loading.report.add({ code: 'WP_DEFINITION_TOO_DEEP', at, parameters: { limit: maxDepth } })
      return { kind: 'broken', ...at }
    }
    const child = (key: Key, item: unknown) => compose(item, places.add(at, key), depth + 1)
    if (Array.isArray(given)) {
      return { kind: 'list', ...at, items: given.map((item, index) => child(index, item)) }
    }
    const entries = new Map<string, Entry>()
    for (const [key, item] of Object.entries(given)) {
      const keySpan = places.add(at, key)
      if (hasReferences(key)) loading.references.push({ text: key, at: keySpan })
      entries.set(key, { key, keySpan, value: child(key, item) })
    }
    return { kind: 'map', ...at, entries }
  }

  return { root: compose(value, places.add(undefined, ''), 0), pointerAt: (column) => places.pointerAt(column) }
}

function composeScalar(value: string | number | boolean | null, at: Span, { references }: LoadContext): Node {
  const scalar = { kind: 'scalar', value, ...at } as const
  if (typeof value === 'string' && hasReferences(value)) references.push({ node: scalar, text: value, at })
  return scalar
}

/** The locations in a value: each is an offset that stores its parent and its own key. */
class Places {
  readonly #keys: Key[] = []
  readonly #parents: (number | undefined)[] = []
  readonly #origin: Origin

  constructor() {
    const lines = new LineCounter()
    lines.addNewLine(0)
    const source = { file: 'release', text: '', lines, content: null, aliases: new Map() }
    this.#origin = { source, includedAt: [] }
  }

  add(parent: Span | undefined, key: Key): Span {
    const start = this.#keys.push(key) - 1
    this.#parents.push(parent?.start)
    return { origin: this.#origin, start, end: start }
  }

  pointerAt(column: number): string {
    const path: Key[] = []
    for (let at: number | undefined = column - 1; at !== undefined && at > 0; at = this.#parents[at]) {
      path.unshift(this.#keys[at]!)
    }
    return makePointer(path)
  }
}
