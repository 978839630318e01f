import { declaredNames, fieldOf, mayAllowUndeclared } from './compare/declared.ts'
import { listedValues, typesOf, valuesOf } from './compare/types-and-values.ts'
import { isRejected, limitsOf } from './limits.ts'
import { isPlacedObject, listIn, placeIn, spread, type Keywords, type Placed, type PlacedObject } from './placed.ts'

/** Why no value matches a list of schemas. */
export interface Contradiction {
  /** For display, for example `entry[].title`; empty for the value itself. */
  readonly path: string
  readonly reason: string
  /** The keyword that rules out the last values, and the object that contains it. */
  readonly schema: object
  readonly keyword: string
  /** The item of `required`. */
  readonly item?: string
}

/** Schemas that all apply to one value. */
export interface Conjunction {
  readonly schemas: readonly Placed[]
  /** Of these, fields that they do not declare are never sent: they describe results that a server writes. */
  readonly written?: readonly Placed[]
}

const maxSteps = 2000
const maxDepth = 12

/**
 * Returns why no value matches all the schemas; undefined if a value may match. Follows references, combined schemas,
 * alternatives and required fields. Conditions and `not` are ignored.
 */
export function findContradiction({ schemas, written = [] }: Conjunction): Contradiction | undefined {
  return new Search().find({ others: schemas, written, path: '', depth: 0, tried: new Set() })
}

interface Step {
  readonly others: readonly Placed[]
  readonly written: readonly Placed[]
  readonly path: string
  readonly depth: number
  /** Lists of alternatives whose items are tried further out. */
  readonly tried: ReadonlySet<unknown>
}

interface Value extends Step {
  readonly all: readonly PlacedObject[]
  readonly types: ReadonlySet<string>
}

class Search {
  #steps = 0

  find(step: Step): Contradiction | undefined {
    this.#steps += 1
    if (this.#steps > maxSteps || step.depth > maxDepth) return undefined
    const [others, written] = [spread(step.others), spread(step.written)]
    const spreaded = [...others, ...written]
    const never = spreaded.find(({ schema }) => schema === false)
    const all = spreaded.filter(isPlacedObject)
    const outer = all[0]?.schema ?? {}
    if (never !== undefined) return { path: step.path, reason: 'its schema is false', schema: outer, keyword: '' }
    if (all.length === 0) return undefined
    return (
      this.#findInValue({ ...step, others, written, all, types: typesOf(all.map(({ schema }) => schema)) }) ??
      this.#findInAlternatives({ ...step, others, written }, all)
    )
  }

  #findInValue(value: Value): Contradiction | undefined {
    const { all, types, path } = value
    const schemas = all.map(({ schema }) => schema)
    if (types.size === 0) return { path, ...explainTypes(schemas) }
    const listed = valuesOf(schemas, types)
    if (listed !== undefined) {
      if (listed.some((one) => !schemas.some((schema) => isRejected(one, schema)))) return undefined
      const schema = schemas.find((one) => listedValues(one) !== undefined) ?? schemas[0]!
      const keyword = 'const' in schema ? 'const' : 'enum'
      return { path, reason: `no value of "${keyword}" is allowed by the rest of the schema`, schema, keyword }
    }
    let last: Contradiction | undefined
    for (const type of types) {
      const found = this.#findInType(type, value)
      if (found === undefined) return undefined
      last ??= found
    }
    return last
  }

  #findInType(type: string, value: Value): Contradiction | undefined {
    const limits = limitsOf(
      type,
      value.all.map(({ schema }) => schema),
    )
    if (limits !== undefined) return { path: value.path, ...limits }
    if (type === 'array') return this.#findInArray(value)
    return type === 'object' ? this.#findInObject(value) : undefined
  }

  #findInArray(value: Value): Contradiction | undefined {
    const { all, path } = value
    const most = Math.min(...all.map(({ schema }) => Number(schema['maxItems'] ?? Infinity)))
    const leastOf = ({ schema }: PlacedObject) => ('contains' in schema ? Number(schema['minContains'] ?? 1) : 0)
    const needy = all.find((one) => leastOf(one) > most)
    if (needy !== undefined) {
      const reason = `"contains" needs at least ${leastOf(needy)}, but "maxItems" is ${most}`
      return { path, reason, schema: needy.schema, keyword: 'contains' }
    }
    const minItems = Math.max(...all.map(({ schema }) => Number(schema['minItems'] ?? 0)))
    const holder = all.find(({ schema }) => minItems > 0 && schema['minItems'] === minItems)
    if (holder === undefined) return undefined
    for (const { schema } of all) {
      const length = Array.isArray(schema['prefixItems']) ? schema['prefixItems'].length : 0
      if (schema['items'] !== false || length >= minItems) continue
      const reason = `"minItems" is ${minItems}, but "items: false" allows at most ${length}`
      return { path, reason, schema: holder.schema, keyword: 'minItems' }
    }
    return this.#findInside(value, { path: `${path}[]`, of: (one) => itemOf(one) })
  }

  #findInObject(value: Value): Contradiction | undefined {
    const { all, path } = value
    const minimum = all.find(({ schema }) => Number(schema['minProperties'] ?? 0) > 0)?.schema
    for (const { schema } of all) {
      if (minimum === undefined || schema['additionalProperties'] !== false || 'patternProperties' in schema) continue
      const count = Object.values((schema['properties'] ?? {}) as Keywords).filter((one) => one !== false).length
      if (Number(minimum['minProperties']) <= count) continue
      const reason = `"minProperties" is ${String(minimum['minProperties'])}, but the number of allowed properties is ${count}`
      return { path, reason, schema: minimum, keyword: 'minProperties' }
    }
    for (const [name, schema] of requiredOf(all)) {
      const found = this.#findInRequired(value, name, schema)
      if (found !== undefined) return found
    }
    return undefined
  }

  #findInRequired(value: Value, name: string, schema: Keywords): Contradiction | undefined {
    const { all, written, path } = value
    const at = { schema, keyword: 'required', item: name }
    const closed = all.find((one) => one.schema['additionalProperties'] === false && isUndeclared(one, name))
    if (closed !== undefined)
      return { path, reason: `"${name}" is required, but "additionalProperties: false" excludes it`, ...at }
    if (all.some((one) => one.schema['unevaluatedProperties'] === false && isUnevaluated(one, name)))
      return { path, reason: `"${name}" is required, but "unevaluatedProperties: false" excludes it`, ...at }
    if (written.length > 0 && isClosed(written) && !declaredNames(written).has(name))
      return { path, reason: `"${name}" is required, but is not in the response`, ...at }
    const names = all.flatMap((one) => {
      const rule = one.schema['propertyNames']
      return rule === undefined ? [] : [placeIn(one, rule)]
    })
    if (names.length > 0) {
      const exact = { ...names[0]!, schema: { const: name } }
      if (this.find({ ...value, others: [exact, ...names], written: [], depth: value.depth + 1 }) !== undefined)
        return { path, reason: `"${name}" is required, but "propertyNames" excludes it`, ...at }
    }
    const inside = path === '' ? name : `${path}.${name}`
    const found = this.#findInside(value, { path: inside, of: (one) => fieldOf(one, name) })
    if (found === undefined || found.keyword !== '') return found
    return { path: inside, reason: `"${name}" is required, but its schema accepts no value`, ...at }
  }

  #findInside(
    value: Value,
    { path, of }: { readonly path: string; of(one: PlacedObject): readonly Placed[] },
  ): Contradiction | undefined {
    const inner = (list: readonly Placed[]) => list.filter(isPlacedObject).flatMap(of)
    const [others, written] = [inner(value.others), inner(value.written)]
    if (others.length + written.length === 0) return undefined
    return this.find({ others, written, path, depth: value.depth + 1, tried: new Set() })
  }

  #findInAlternatives(step: Step, all: readonly PlacedObject[]): Contradiction | undefined {
    for (const one of all) {
      const isWritten = step.written.some(({ schema }) => schema === one.schema)
      for (const keyword of ['anyOf', 'oneOf']) {
        const list = one.schema[keyword]
        if (!Array.isArray(list) || list.length === 0 || step.tried.has(list)) continue
        const tried = new Set([...step.tried, list])
        const found = listIn(one, list).map((branch) =>
          this.find({
            ...step,
            tried,
            depth: step.depth + 1,
            ...(isWritten ? { written: [...step.written, branch] } : { others: [...step.others, branch] }),
          }),
        )
        const [first] = found
        if (first === undefined || found.includes(undefined)) continue
        if (list.length === 1 && first.keyword !== '') return first
        const reason = `no alternative of "${keyword}" is possible: ${first.path === '' ? '' : `${first.path}: `}${first.reason}`
        return { path: step.path, reason, schema: one.schema, keyword }
      }
    }
    return undefined
  }
}

function explainTypes(schemas: readonly Keywords[]): Omit<Contradiction, 'path'> {
  const typed = schemas.filter(({ type }) => type !== undefined)
  if (typed.length > 0 && typesOf(typed.map(({ type }) => ({ type }))).size === 0) {
    const texts = [...new Set(typed.map(({ type }) => `"${[type].flat().join('" or "')}"`))]
    return { reason: `a value cannot be of type ${texts.join(' and ')}`, schema: typed.at(-1)!, keyword: 'type' }
  }
  const schema = schemas.find((one) => listedValues(one) !== undefined)!
  const keyword = 'const' in schema ? 'const' : 'enum'
  return { reason: `no value of "${keyword}" is allowed by the rest of the schema`, schema, keyword }
}

/** Returns the required names with the schema that requires them, including what these names require. */
function requiredOf(all: readonly PlacedObject[]): ReadonlyMap<string, Keywords> {
  const required = new Map<string, Keywords>()
  const add = (names: unknown, schema: Keywords) => {
    for (const name of Array.isArray(names) ? (names as string[]) : [])
      if (!required.has(name)) required.set(name, schema)
  }
  for (const { schema } of all) add(schema['required'], schema)
  // The map grows while it is iterated.
  for (const name of required.keys())
    for (const { schema } of all) {
      const dependent = schema['dependentRequired'] as Keywords | undefined
      if (dependent !== undefined && Object.hasOwn(dependent, name)) add(dependent[name], schema)
    }
  return required
}

function isUndeclared(one: PlacedObject, name: string): boolean {
  const [first, ...more] = fieldOf(one, name)
  const properties = (one.schema['properties'] ?? {}) as Keywords
  return first?.schema === false && more.length === 0 && !Object.hasOwn(properties, name)
}

/** Whether no part of a schema, not even a conditional one, can declare the property. */
function isUnevaluated(one: PlacedObject, name: string): boolean {
  const parts = spread([{ ...one, isSpread: false }]).filter(isPlacedObject)
  const isOpen = ({ schema }: PlacedObject) =>
    ['additionalProperties', 'patternProperties'].some((keyword) => keyword in schema) ||
    (schema['unevaluatedProperties'] ?? false) !== false
  return !declaredNames(parts).has(name) && !mayAllowUndeclared(parts) && !parts.some(isOpen)
}

/** Returns true if results with these schemas have declared fields only. */
function isClosed(written: readonly Placed[]): boolean {
  const objects = written.filter(isPlacedObject)
  const isObject = objects.some(({ schema }) => schema['type'] !== undefined || schema['properties'] !== undefined)
  const isOpen = objects.some(({ schema }) =>
    ['additionalProperties', 'unevaluatedProperties', 'patternProperties'].some(
      (keyword) => schema[keyword] !== undefined && schema[keyword] !== false,
    ),
  )
  return isObject && !isOpen && !mayAllowUndeclared(written)
}

function itemOf(one: PlacedObject): readonly Placed[] {
  const { prefixItems, items } = one.schema
  const first = Array.isArray(prefixItems) && prefixItems.length > 0 ? (prefixItems[0] as unknown) : items
  return first === undefined ? [] : [placeIn(one, first)]
}
