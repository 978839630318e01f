import type { JsonSchema } from '../../contract/index.ts'
import {
  placeRoot,
  requireWithoutDefaults,
  type NamedSchemas,
  compareVersions,
  type SchemaDetail,
  type VersionComparison,
} from '../../schema/index.ts'
import type { ChangeDetail } from './change.ts'

/** Whether a schema is of what callers send or of what they get. */
type Way = 'request' | 'answer'
const ways: readonly Way[] = ['request', 'answer']

export interface SchemaPair {
  readonly before: JsonSchema
  readonly after: JsonSchema
  readonly way: Way
  readonly isCoerced?: boolean
  /** Who is broken by what breaks it, for example `POST /todo`. */
  readonly user: string
}

/**
 * Compares the schemas of two manifests. What changed in a named schema is told once, of that schema, with everybody whom
 * it breaks, and not of each who refers to it.
 */
export class SchemaEffects {
  readonly #before: Versions
  readonly #after: Versions
  /** Named schemas that changed, or that lead to one that did. */
  readonly #touched: ReadonlySet<string>
  readonly #users: Readonly<Record<Way, Map<string, Set<string>>>> = { request: new Map(), answer: new Map() }
  readonly #compared: Readonly<Record<Way, Map<string, VersionComparison>>> = { request: new Map(), answer: new Map() }

  constructor(before: NamedSchemas, after: NamedSchemas) {
    this.#before = makeVersions(before)
    this.#after = makeVersions(after)
    this.#touched = findTouched(before, after)
  }

  /** What differs in a schema that stands in a route or an event. */
  compare({ before, after, way, isCoerced = false, user }: SchemaPair): readonly SchemaDetail[] {
    const text = JSON.stringify(after)
    const isSameText = JSON.stringify(before) === text
    if (isSameText && !namesIn(text).some((name) => this.#touched.has(name))) return []
    const [was, is] = [placeIn(this.#before[way], before, way), placeIn(this.#after[way], after, way)]
    const { details, assumed } = compareVersions(was, is, { isAnswer: way === 'answer', isCoerced })
    for (const name of assumed) this.#use(name, way, user)
    return details.length > 0 || isSameText ? details : otherWords
  }

  /** What differs in a named schema that both manifests hold, after all that may refer to it was compared. */
  detailsOf(name: string): readonly ChangeDetail[] {
    if (!this.#touched.has(name)) return []
    const used = ways.filter((way) => this.#users[way].has(name))
    const details = new Map<string, ChangeDetail>()
    for (const way of used.length === 0 ? (['answer'] as const) : used) {
      const affects = [...(this.#users[way].get(name) ?? [])].toSorted()
      for (const detail of this.#comparisonOf(name, way).details) {
        const isBreaking = detail.breaking && affects.length > 0
        const known = details.get(detail.text)
        if (isBreaking) {
          const all = [...new Set([...(known?.affects ?? []), ...affects])].toSorted()
          details.set(detail.text, { text: detail.text, breaking: true, affects: all })
        } else if (known === undefined) details.set(detail.text, { text: detail.text, breaking: false })
      }
    }
    if (details.size > 0) return [...details.values()]
    const [was, is] = [this.#before.answer[name]!, this.#after.answer[name]!]
    return JSON.stringify(was) === JSON.stringify(is) ? [] : otherWords
  }

  #use(name: string, way: Way, user: string): void {
    const users = this.#users[way].get(name) ?? new Set()
    if (users.has(user)) return
    this.#users[way].set(name, users.add(user))
    if (!this.#touched.has(name)) return
    for (const next of this.#comparisonOf(name, way).assumed) this.#use(next, way, user)
  }

  #comparisonOf(name: string, way: Way): VersionComparison {
    const known = this.#compared[way].get(name)
    if (known !== undefined) return known
    const [before, after] = [this.#before[way], this.#after[way]]
    const [was, is] = [placeRoot(before[name]!, before), placeRoot(after[name]!, after)]
    const comparison = compareVersions(was, is, { isAnswer: way === 'answer' })
    this.#compared[way].set(name, comparison)
    return comparison
  }
}

/** The named schemas, for what callers send and for what they get. */
type Versions = Readonly<Record<Way, NamedSchemas>>

function makeVersions(named: NamedSchemas): Versions {
  const request = Object.entries(named).map(([name, schema]) => [name, requireWithoutDefaults(schema)])
  return { answer: named, request: Object.fromEntries(request) as NamedSchemas }
}

function placeIn(named: NamedSchemas, schema: JsonSchema, way: Way) {
  return placeRoot(way === 'request' ? requireWithoutDefaults(schema) : schema, named)
}

/** Of schemas whose texts differ, and nothing that they take. */
const otherWords: readonly SchemaDetail[] = [{ text: 'rewritten without a change of meaning', breaking: false }]

function findTouched(before: NamedSchemas, after: NamedSchemas): ReadonlySet<string> {
  const texts = new Map<string, string>()
  const touched = new Set<string>()
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before, after].map((schemas) =>
      JSON.stringify(Object.hasOwn(schemas, name) ? schemas[name] : null),
    )
    if (was !== is) touched.add(name)
    texts.set(name, `${was}${is}`)
  }
  const reachable = new Map([...texts].map(([name, text]) => [name, namesIn(text)]))
  for (let size = -1; size !== touched.size && touched.size > 0;) {
    size = touched.size
    for (const [name, names] of reachable) if (names.some((one) => touched.has(one))) touched.add(name)
  }
  return touched
}

/** The named schemas that a text of JSON may refer to. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/schema:\/\/\/([^"#\\]+)/g)].map(([, name]) => decodeURIComponent(name!))
}
