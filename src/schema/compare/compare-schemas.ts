import { checkAlternatives, splits } from './check-alternatives.ts'
import { checkArrays } from './check-arrays.ts'
import { checkNumbers } from './check-numbers.ts'
import { checkObjects, join } from './check-objects.ts'
import { checkOpaque, mustMatchWhole } from './check-opaque.ts'
import { checkStrings } from './check-strings.ts'
import { checkTypes, checkValues } from './check-types.ts'
import type { Check, Comparator, Finding } from './comparator.ts'
import { declaredNames } from './declared.ts'
import {
  isScopedObject,
  nameOfReference,
  followScoped,
  scopeList,
  expand,
  type ScopedSchema,
} from '../scoped-schema.ts'
import { isEquivalent } from './is-equivalent.ts'
import { typesOf, valuesOf } from './types-and-values.ts'

/** The result of comparing two schemas. */
export interface Comparison {
  /** What the first schema accepts and the second does not. */
  readonly findings: readonly Finding[]
  /** Other changes, for information. */
  readonly notes: readonly Finding[]
  /** Named schemas on whose comparison, old version with new in this direction, the result depends. */
  readonly assumed: ReadonlySet<string>
}

export interface CompareOptions {
  readonly isAnswer?: boolean
  readonly isCoerced?: boolean
}

const maxSteps = 20_000
const maxFindings = 200

/**
 * Compares the values that two schemas accept. Where equality cannot be decided, reports a difference, so no difference
 * is missed. A field that a schema does not declare counts as never sent, so declaring an optional field narrows
 * nothing.
 */
export function compareSchemas(sub: ScopedSchema, sup: ScopedSchema, options: CompareOptions = {}): Comparison {
  const { isAnswer = false, isCoerced = false } = options
  const comparator = new SchemaComparator(isAnswer, isCoerced)
  comparator.compare([sub], sup, '')
  return { findings: comparator.findings, notes: comparator.notes, assumed: new Set(comparator.assumed) }
}

class SchemaComparator implements Comparator {
  readonly isAnswer: boolean
  readonly isCoerced: boolean
  readonly findings: Finding[] = []
  readonly notes: Finding[] = []
  readonly assumed: string[] = []
  readonly #open = new Set<string>()
  readonly #ids = new Map<unknown, number>()
  #steps = 0

  constructor(isAnswer: boolean, isCoerced: boolean) {
    this.isAnswer = isAnswer
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

  compare(subs: readonly ScopedSchema[], sup: ScopedSchema, path: string): void {
    this.comparePart(subs, sup, path)
    const name = nameOf(sup)
    if (name !== undefined && subs.some((sub) => nameOf(sub) === name)) return // reported for the named schema
    const accepted = declaredNames([sup])
    for (const field of declaredNames(subs)) {
      if (!accepted.has(field)) this.note({ path: join(path, field), keyword: this.isAnswer ? 'new' : 'gone' })
    }
  }

  comparePart(subs: readonly ScopedSchema[], sup: ScopedSchema, path: string): void {
    if (sup.schema === true || subs.some(({ schema }) => schema === false)) return
    if (!isScopedObject(sup)) return this.report({ path, keyword: 'never' })
    this.#steps += 1
    if (this.#steps > maxSteps) return this.report({ path, keyword: 'complex' })
    const key = [...new Set(subs.map(({ schema }) => this.#idOf(schema)))].join() + `>${this.#idOf(sup.schema)}`
    if (this.#open.has(key)) return // recursion: the outcome is that of the rest of the schema
    this.#open.add(key)
    const found = this.attempt(() => this.#compareExpanded(expand(subs), { sup, path }))
    // Equivalent schemas need no comparison.
    if (found.length > 0 && !subs.some((sub) => isEquivalent(sub, sup)))
      found.forEach((finding) => this.report(finding))
    this.#open.delete(key)
  }

  #compareExpanded(subs: readonly ScopedSchema[], { sup, path }: Pick<Check, 'sup' | 'path'>): void {
    if (subs.some(({ schema }) => schema === false)) return
    if (mustMatchWhole(sup)) {
      if (!subs.some((sub) => isEquivalent(sub, sup))) this.report({ path, keyword: 'unevaluatedProperties' })
      return
    }
    const objects = subs.filter(isScopedObject)
    const name = nameOf(sup)
    if (name !== undefined && objects.some((sub) => nameOf(sub) === name)) {
      this.assumed.push(name)
    } else if (sup.schema['$ref'] !== undefined) {
      const target = followScoped(sup)
      if (target === undefined) this.report({ path, keyword: '$ref' })
      else this.comparePart(subs, target, path)
    }
    for (const part of scopeList(sup, sup.schema['allOf'])) this.comparePart(subs, part, path)
    this.#checkKeywords(objects, { sup, path })
  }

  #checkKeywords(subs: Check['subs'], { sup, path }: Pick<Check, 'sup' | 'path'>): void {
    const types = typesOf(subs.map(({ schema }) => schema))
    const values = valuesOf(
      subs.map(({ schema }) => schema),
      types,
    )
    if (types.size === 0) return
    const check: Check = { comparator: this, path, subs, sup, types, values }
    const found = this.attempt(() => {
      for (const one of checks) one(check)
    })
    if (found.length === 0) return
    // If the comparison fails as a whole, compare each alternative on its own.
    const byType = found.some((one) => one.path === path && ['anyOf', 'oneOf'].includes(one.keyword))
    const [branches] = splits(subs, byType)
    if (branches === undefined) return found.forEach((finding) => this.report(finding))
    for (const { of, instead } of branches) {
      this.#steps += 1
      if (this.#steps > maxSteps) return this.report({ path, keyword: 'complex' })
      const all = expand([...subs.filter(({ schema }) => schema !== of), ...instead])
      if (all.some(({ schema }) => schema === false)) continue
      this.#checkKeywords(all.filter(isScopedObject), { sup, path })
    }
  }

  #idOf(schema: unknown): number {
    const id = this.#ids.get(schema) ?? this.#ids.size
    this.#ids.set(schema, id)
    return id
  }
}

/** Returns the name of the schema that a `$ref` refers to as a whole. Keywords beside the `$ref` are ignored. */
function nameOf(scoped: ScopedSchema): string | undefined {
  return isScopedObject(scoped) ? nameOfReference(scoped.schema['$ref']) : undefined
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
