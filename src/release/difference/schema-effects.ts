import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from '../../contract/index.ts'
import {
  placeRoot,
  requireWithoutDefaults,
  withoutAccess,
  withoutAccessIn,
  type NamedSchemas,
  compareVersions,
  type SchemaDetail,
  type VersionComparison,
} from '../../schema/index.ts'
import type { ChangeDetail } from './change.ts'

/** Whether a schema describes what callers send or what they receive. */
type Direction = 'request' | 'response'
const directions: readonly Direction[] = ['request', 'response']

export interface SchemaPair {
  readonly before: JsonSchema
  readonly after: JsonSchema
  readonly direction: Direction
  readonly isCoerced?: boolean
  /** What is affected by a breaking change, for example `POST /todo`. */
  readonly user: string
}

/**
 * Compares the schemas of two manifests. A change of a named schema is reported once, for that schema, with all routes
 * and events that it breaks, and not again for each schema that refers to it.
 */
export class SchemaEffects {
  readonly #before: Versions
  readonly #after: Versions
  /** Named schemas that changed or refer to a changed one. */
  readonly #affected: ReadonlySet<string>
  readonly #users: Readonly<Record<Direction, Map<string, Set<string>>>> = { request: new Map(), response: new Map() }
  readonly #compared: Readonly<Record<Direction, Map<string, VersionComparison>>> = {
    request: new Map(),
    response: new Map(),
  }

  constructor(before: NamedSchemas, after: NamedSchemas) {
    this.#before = makeVersions(before)
    this.#after = makeVersions(after)
    this.#affected = findAffected(before, after)
  }

  /** Whether a schema with this text, or one that it refers to, has changed. */
  isAffected(text: string): boolean {
    return this.#affected.size > 0 && namesIn(text).some((name) => this.#affected.has(name))
  }

  /** Returns the differences of a schema in a route or an event. */
  compare({ before, after, direction, isCoerced = false, user }: SchemaPair): readonly SchemaDetail[] {
    const text = JSON.stringify(after)
    const isSameText = JSON.stringify(before) === text
    if (isSameText && !this.isAffected(text)) return []
    const [was, is] = [
      placeIn(this.#before[direction], before, direction),
      placeIn(this.#after[direction], after, direction),
    ]
    const { details, assumed } = compareVersions(was, is, { isResponse: direction === 'response', isCoerced })
    for (const name of assumed) this.#use(name, direction, user)
    return details.length > 0 || isDeepStrictEqual(before, after) ? details : equivalentRewrite
  }

  /** Returns the differences of a named schema that both manifests have. Call it after all users were compared. */
  detailsOf(name: string): readonly ChangeDetail[] {
    if (!this.#affected.has(name)) return []
    const used = directions.filter((direction) => this.#users[direction].has(name))
    const details = new Map<string, ChangeDetail>()
    for (const direction of used.length === 0 ? (['response'] as const) : used) {
      const affects = [...(this.#users[direction].get(name) ?? [])].toSorted()
      for (const detail of this.#comparisonOf(name, direction).details) {
        const isBreaking = detail.breaking && affects.length > 0
        const known = details.get(detail.text)
        if (isBreaking) {
          const all = [...new Set([...(known?.affects ?? []), ...affects])].toSorted()
          details.set(detail.text, { text: detail.text, breaking: true, affects: all })
        } else if (known === undefined) details.set(detail.text, { text: detail.text, breaking: false })
      }
    }
    if (details.size > 0) return [...details.values()]
    const [was, is] = [this.#before.response[name]!, this.#after.response[name]!]
    return isDeepStrictEqual(was, is) ? [] : equivalentRewrite
  }

  #use(name: string, direction: Direction, user: string): void {
    const users = this.#users[direction].get(name) ?? new Set()
    if (users.has(user)) return
    this.#users[direction].set(name, users.add(user))
    if (!this.#affected.has(name)) return
    for (const next of this.#comparisonOf(name, direction).assumed) this.#use(next, direction, user)
  }

  #comparisonOf(name: string, direction: Direction): VersionComparison {
    const known = this.#compared[direction].get(name)
    if (known !== undefined) return known
    const [before, after] = [this.#before[direction], this.#after[direction]]
    const [was, is] = [placeRoot(before[name]!, before), placeRoot(after[name]!, after)]
    const comparison = compareVersions(was, is, { isResponse: direction === 'response' })
    this.#compared[direction].set(name, comparison)
    return comparison
  }
}

const inRequests = { keyword: 'readOnly', instead: false } as const
const inResponses = { keyword: 'writeOnly', instead: undefined } as const

/** The named schemas for each direction. */
type Versions = Readonly<Record<Direction, NamedSchemas>>

function makeVersions(named: NamedSchemas): Versions {
  const request = Object.entries(withoutAccessIn(named, inRequests)).map(([name, schema]) => [
    name,
    requireWithoutDefaults(schema),
  ])
  return { response: withoutAccessIn(named, inResponses), request: Object.fromEntries(request) as NamedSchemas }
}

function placeIn(named: NamedSchemas, schema: JsonSchema, direction: Direction) {
  const isRequest = direction === 'request'
  const own = withoutAccess(schema, named, isRequest ? inRequests : inResponses)
  return placeRoot(isRequest ? requireWithoutDefaults(own) : own, named)
}

/** For schemas whose text differs but which accept the same values. */
const equivalentRewrite: readonly SchemaDetail[] = [{ text: 'rewritten without a change of meaning', breaking: false }]

function findAffected(before: NamedSchemas, after: NamedSchemas): ReadonlySet<string> {
  const texts = new Map<string, string>()
  const affected = new Set<string>()
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before, after].map((schemas) =>
      JSON.stringify(Object.hasOwn(schemas, name) ? schemas[name] : null),
    )
    if (was !== is) affected.add(name)
    texts.set(name, `${was}${is}`)
  }
  const reachable = new Map([...texts].map(([name, text]) => [name, namesIn(text)]))
  for (let size = -1; size !== affected.size && affected.size > 0;) {
    size = affected.size
    for (const [name, names] of reachable) if (names.some((one) => affected.has(one))) affected.add(name)
  }
  return affected
}

/** Returns the named schemas to which a JSON text may refer. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/schema:\/\/\/([^"#\\]+)/g)].map(([, name]) => decodeURIComponent(name!))
}
