import { checkAlternatives, splits } from './check-alternatives.ts'
import { checkArrays } from './check-arrays.ts'
import { checkNumbers } from './check-numbers.ts'
import { checkObjects, join } from './check-objects.ts'
import { checkOpaque, usesUnevaluated } from './check-opaque.ts'
import { checkStrings } from './check-strings.ts'
import { checkTypes, checkValues } from './check-types.ts'
import type { Check, Comparer, Finding } from './comparer.ts'
import { declaredNames } from './declared.ts'
import { isPlacedObject, nameOfReference, followPlaced, listIn, spread, type Placed } from '../placed.ts'
import { isSame } from './same.ts'
import { typesOf, valuesOf } from './types-and-values.ts'

/** The result of comparing two schemas. */
export interface Comparison {
  /** What `sub` accepts and `sup` rejects. */
  readonly findings: readonly Finding[]
  /** Other differences, which break no client. */
  readonly notes: readonly Finding[]
  /** Named schemas that were assumed compatible in this direction. Their versions must be compared separately. */
  readonly assumed: ReadonlySet<string>
}

export interface CompareOptions {
  readonly isResponse?: boolean
  readonly isCoerced?: boolean
}

const maxSteps = 20_000
const maxFindings = 200

/**
 * Finds the values that `sub` accepts and `sup` rejects. The comparison is conservative: anything it cannot decide is
 * reported as a difference. Undeclared fields are assumed not to be sent, so declaring an optional field does not narrow
 * a schema.
 */
export function compareSchemas(sub: Placed, sup: Placed, options: CompareOptions = {}): Comparison {
  const { isResponse = false, isCoerced = false } = options
  const comparer = new SchemaComparer(isResponse, isCoerced)
  comparer.compare([sub], sup, '')
  return { findings: comparer.findings, notes: comparer.notes, assumed: new Set(comparer.assumed) }
}

class SchemaComparer implements Comparer {
  readonly isResponse: boolean
  readonly isCoerced: boolean
  readonly findings: Finding[] = []
  readonly notes: Finding[] = []
  readonly assumed: string[] = []
  readonly #open = new Set<string>()
  readonly #ids = new Map<unknown, number>()
  #steps = 0

  constructor(isResponse: boolean, isCoerced: boolean) {
    this.isResponse = isResponse
    this.isCoerced = isCoerced
  }

  report(finding: Finding): void {
    if (this.findings.length < maxFindings) this.findings.push(finding)
  }

  note(finding: Finding): void {
    if (this.notes.length < maxFindings) this.notes.push(finding)
  }

  attempt(work: () => void): readonly Finding[] {
    const [found, noted, assumed] = [this.findings.length, this.notes.length, this.assumed.length]
    work()
    if (this.findings.length === found) return []
    this.notes.length = noted
    this.assumed.length = assumed
    return this.findings.splice(found)
  }

  compare(subs: readonly Placed[], sup: Placed, path: string): void {
    this.comparePart(subs, sup, path)
    const name = nameOf(sup)
    if (name !== undefined && subs.some((sub) => nameOf(sub) === name)) return // reported for the named schema
    const accepted = declaredNames([sup])
    for (const field of declaredNames(subs)) {
      if (!accepted.has(field)) this.note({ path: join(path, field), keyword: this.isResponse ? 'new' : 'gone' })
    }
  }

  comparePart(subs: readonly Placed[], sup: Placed, path: string): void {
    if (sup.schema === true || subs.some(({ schema }) => schema === false)) return
    if (!isPlacedObject(sup)) return this.report({ path, keyword: 'never' })
    this.#steps += 1
    if (this.#steps > maxSteps) return this.report({ path, keyword: 'complex' })
    const key = [...new Set(subs.map(({ schema }) => this.#idOf(schema)))].join() + `>${this.#idOf(sup.schema)}`
    if (this.#open.has(key)) return // recursive: the outer comparison decides
    this.#open.add(key)
    const found = this.attempt(() => this.#compareSchemas(spread(subs), { sup, path }))
    // Identical schemas are compatible even where the checks cannot prove it.
    if (found.length > 0 && !subs.some((sub) => isSame(sub, sup))) found.forEach((finding) => this.report(finding))
    this.#open.delete(key)
  }

  #compareSchemas(subs: readonly Placed[], { sup, path }: Pick<Check, 'sup' | 'path'>): void {
    if (subs.some(({ schema }) => schema === false)) return
    if (usesUnevaluated(sup)) {
      if (!subs.some((sub) => isSame(sub, sup))) this.report({ path, keyword: 'unevaluatedProperties' })
      return
    }
    const objects = subs.filter(isPlacedObject)
    const name = nameOf(sup)
    if (name !== undefined && objects.some((sub) => nameOf(sub) === name)) {
      this.assumed.push(name)
    } else if (sup.schema['$ref'] !== undefined) {
      const target = followPlaced(sup)
      if (target === undefined) this.report({ path, keyword: '$ref' })
      else this.comparePart(subs, target, path)
    }
    for (const part of listIn(sup, sup.schema['allOf'])) this.comparePart(subs, part, path)
    this.#checkKeywords(objects, { sup, path })
  }

  #checkKeywords(subs: Check['subs'], { sup, path }: Pick<Check, 'sup' | 'path'>): void {
    const types = typesOf(subs.map(({ schema }) => schema))
    const values = valuesOf(
      subs.map(({ schema }) => schema),
      types,
    )
    if (types.size === 0) return
    const check: Check = { comparer: this, path, subs, sup, types, values }
    const found = this.attempt(() => {
      for (const one of checks) one(check)
    })
    if (found.length === 0) return
    // The check failed for the values as a whole, so check each case separately.
    const byType = found.some((one) => one.path === path && ['anyOf', 'oneOf'].includes(one.keyword))
    const [branches] = splits(subs, byType)
    if (branches === undefined) return found.forEach((finding) => this.report(finding))
    for (const { of, instead } of branches) {
      this.#steps += 1
      if (this.#steps > maxSteps) return this.report({ path, keyword: 'complex' })
      const all = spread([...subs.filter(({ schema }) => schema !== of), ...instead])
      if (all.some(({ schema }) => schema === false)) continue
      this.#checkKeywords(all.filter(isPlacedObject), { sup, path })
    }
  }

  #idOf(schema: unknown): number {
    const id = this.#ids.get(schema) ?? this.#ids.size
    this.#ids.set(schema, id)
    return id
  }
}

/** Returns the name of the named schema that `$ref` refers to as a whole; undefined if there is none. */
function nameOf(placed: Placed): string | undefined {
  return isPlacedObject(placed) ? nameOfReference(placed.schema['$ref']) : undefined
}

const checks: readonly ((check: Check) => void)[] = [
  checkTypes,
  checkValues,
  checkNumbers,
  checkStrings,
  checkArrays,
  checkObjects,
  checkAlternatives,
  checkOpaque,
]
