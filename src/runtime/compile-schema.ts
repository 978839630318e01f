import type { Options } from 'ajv'
import { _, Ajv2020, Name, type CodeKeywordDefinition, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { JsonSchema } from '../contract/index.ts'
import { compilePattern, useExactFormats, useExactKeywords } from '../kit/index.ts'
import { checkNumbers, findUnusualNumbers } from './check-numbers.ts'
import { exactIntegers, isExactLimit, limitIntegers } from './limit-integers.ts'
import { movePrototype, ownPropertyOptions } from './object-names.ts'
import { withAlternatives } from './parameter-alternatives.ts'
import { withLists } from './split-lists.ts'
import { withSuggestions } from './suggest-parameters.ts'
import { addSteps, makePatternEngine, makeStepKeyword, StepBudget } from './step-budget.ts'
import {
  makeDefaults,
  toDraft2020,
  unescapeStep,
  withoutAccess,
  withoutAccessIn,
  type AccessChange,
  type NamedSchemas,
} from '../schema/index.ts'

/** One mismatch with a schema. `path` is a JSON pointer after the part's name, for example `body/title`. */
export interface SchemaProblem {
  readonly path: string
  readonly message: string
}

/**
 * Checks a value. Depending on the part, first fills in defaults and coerces values.
 * @param maxSteps limits the work, except for path and query; see `StepBudget`
 * @param bytes the length of the value as JSON: of a long one, only the first problem is described
 * @returns undefined if the value is valid
 */
export type Validator = (value: unknown, maxSteps?: number, bytes?: number) => readonly SchemaProblem[] | undefined

/** What a schema describes. Path and query are coerced, query and body get defaults, the others are not changed. */
export type Part = 'path' | 'query' | 'body' | 'result' | 'data'

const maxProblems = 50
/** A malicious client could cause millions of errors with a longer value, or send an object with 100,000 keys. */
const maxSmallBytes = 64 * 1024
const maxThoroughCheckSteps = 40_000

/** What each part must not contain, and the schema of such a property. */
export const excluded = {
  path: undefined,
  query: { keyword: 'readOnly', instead: { 'x-excluded': 'is read-only' } },
  body: { keyword: 'readOnly', instead: { 'x-excluded': 'is read-only' } },
  result: { keyword: 'writeOnly', instead: { writeOnly: true } }, // the serializer omits it
  data: { keyword: 'writeOnly', instead: { 'x-excluded': 'is write-only' } },
} as const satisfies Readonly<Record<Part, AccessChange | undefined>>

/** Makes the keyword of properties that are not accepted. */
function makeExcludedKeyword(): CodeKeywordDefinition {
  return {
    keyword: 'x-excluded',
    schemaType: 'string',
    code: (context) => context.fail(_`true`),
    error: { message: ({ schema }) => _`${String(schema)}` },
  }
}

/** Compiles a validator. @param named the schemas that `schema:///NAME` refers to */
export function compileValidator(written: JsonSchema, allNamed: NamedSchemas, part: Part): Validator {
  const divided = part === 'body' ? divideLists(written) : undefined
  if (divided === undefined) return compileWhole(written, allNamed, part)
  const [one, list] = [divided.one, divided.list].map((schema) => compileWhole(schema, allNamed, part))
  return (value, maxSteps, bytes) => (Array.isArray(value) ? list! : one!)(value, maxSteps, bytes)
}

/**
 * Divides a schema of an object or a list. A body is then checked by the alternative that it is meant to match, so that its
 * problems are those of its fields.
 */
function divideLists(schema: JsonSchema): { readonly one: JsonSchema; readonly list: JsonSchema } | undefined {
  if (typeof schema === 'boolean') return undefined
  const { anyOf, ...shared } = schema
  if (!Array.isArray(anyOf) || Object.keys(shared).some((keyword) => !keyword.startsWith('$def'))) return undefined
  const [one, list, ...others] = anyOf as readonly JsonSchema[]
  const isDivided = others.length === 0 && typeOf(one) === 'object' && typeOf(list) === 'array'
  return isDivided ? { one: { ...shared, ...(one as object) }, list: { ...shared, ...(list as object) } } : undefined
}

function typeOf(schema: JsonSchema | undefined): unknown {
  if (typeof schema !== 'object') return undefined
  const types = [schema, ...((schema['allOf'] ?? []) as readonly JsonSchema[])].flatMap((one) =>
    typeof one === 'object' ? (one['type'] ?? []) : [],
  )
  return types[0]
}

function compileWhole(written: JsonSchema, allNamed: NamedSchemas, part: Part): Validator {
  const change: AccessChange | undefined = excluded[part]
  const schema = change === undefined ? written : withoutAccess(written, allNamed, change)
  const named = change === undefined ? allNamed : withoutAccessIn(allNamed, change)
  const isCoerced = part === 'path' || part === 'query'
  const budget = isCoerced ? undefined : new StepBudget()
  const options = { isCoerced, budget, ...(part === 'body' ? { change: limitIntegers } : {}) }
  const fast = compile(schema, named, { ...options, allErrors: false })
  let forLong: ((value: unknown) => readonly ErrorObject[] | undefined) | undefined
  const findFirstError = (value: unknown) =>
    (forLong ??= compileForLong(schema, named, { ...options, allErrors: false }))(value)
  let slow: ValidateFunction | undefined
  const findAllErrors = (value: unknown) => {
    slow ??= compile(schema, named, { ...options, allErrors: true })
    if (budget !== undefined) budget.left = Math.min(budget.left, maxThoroughCheckSteps)
    try {
      return slow(value) ? [] : slow.errors!
    } catch (error) {
      if (error !== budget?.exceeded) throw error
      return [] // the first error is known
    }
  }
  const fill = part === 'query' || part === 'body' ? compileDefaults(schema, named, budget) : undefined
  const check: Validator = (value, _maxSteps, bytes = 0) => {
    fill?.(value)
    if (!isCoerced && bytes > maxSmallBytes) {
      const first = findFirstError(value)
      return first && describe(first, part, value)
    }
    if (fast(value)) return undefined
    if (value === undefined) return [{ path: part, message: 'is required' }]
    const found = findAllErrors(value) // needs a second pass
    return describe(found.length === 0 ? fast.errors : found, part, value)
  }
  if (budget !== undefined) return withBudget(check, budget, part)
  if (!isCoerced) return check
  const findNullable = part === 'query' && mentions('null', schema, named) ? makeNullCheck(schema, named) : undefined
  const nullable = findNullable === undefined ? check : withNulls(check, findNullable)
  const found = part === 'query' ? withSuggestions(nullable, schema, named) : nullable
  const hasNumbers = mentions('integer', schema, named) || mentions('number', schema, named)
  const strict = hasNumbers ? withStrictNumbers({ check: found, findAllErrors, part }) : found
  const read = withAlternatives(strict, {
    schema,
    named,
    part,
    compile: (one, all) => compileValidator(one, all, part),
  })
  return part === 'query' ? withLists(read, schema, named) : read
}

/**
 * Compiles a check of long values that lists the keys of each large object once: each alternative that allows no other
 * properties would list them again, and that takes half as long as parsing them.
 */
function compileForLong(schema: JsonSchema, named: NamedSchemas, options: CompileOptions) {
  const known = new Map<object, readonly string[]>()
  const listKeys = (object: object): readonly string[] => {
    const found = known.get(object)
    if (found !== undefined) return found
    const keys = Object.keys(object)
    if (keys.length > maxListedKeys) known.set(object, keys)
    return keys
  }
  const validate = compile(schema, named, { ...options, listKeys })
  return (value: unknown): readonly ErrorObject[] | undefined => {
    try {
      return validate(value) ? undefined : validate.errors!
    } finally {
      known.clear()
    }
  }
}

const maxListedKeys = 1000

function withBudget(check: Validator, budget: StepBudget, part: Part): Validator {
  return (value, maxSteps = Infinity, bytes = 0) => {
    budget.left = maxSteps
    try {
      return check(value, maxSteps, bytes)
    } catch (error) {
      if (error !== budget.exceeded) throw error
      return [{ path: part, message: 'takes too many steps to check; send fewer or less deeply nested values' }]
    }
  }
}

/**
 * Fills in defaults instead of Ajv, which applies the defaults of alternatives that do not match, and those of `allOf`
 * only after checking it.
 */
function compileDefaults(
  schema: JsonSchema,
  named: NamedSchemas,
  budget: StepBudget | undefined,
): ((value: unknown) => void) | undefined {
  if (!JSON.stringify([schema, named]).includes('"default":')) return undefined
  const all = Object.fromEntries(Object.entries(named).map(([name, one]) => [name, toDraft2020(one)]))
  return makeDefaults(toDraft2020(schema), all, (steps) => budget?.spend(steps))
}

interface StrictNumberOptions {
  readonly check: Validator
  /** Finds all errors of Ajv. */
  findAllErrors(value: unknown): readonly ErrorObject[]
  readonly part: Part
}

/** Adds a check that numbers are written as JSON numbers. Ajv would coerce `0x1`, `1e3` and ` 1` to integers. */
function withStrictNumbers({ check, findAllErrors, part }: StrictNumberOptions): Validator {
  return (value) => {
    const unusual = findUnusualNumbers(value)
    const found = check(value)
    if (unusual === undefined) return found
    let integers: ReadonlySet<string> | undefined
    // A parameter that rejects a fraction accepts only integers, whichever keyword its schema uses. All are tried
    // together, because a query can have thousands.
    const findIntegers = () => {
      const fractions = Object.fromEntries([...unusual.keys()].map((name) => [name, '0.5']))
      const rejected = findAllErrors({ ...(value as object), ...fractions }).filter(
        ({ keyword, params }) => keyword === 'type' && [params['type']].flat().includes('integer'),
      )
      return new Set(rejected.map(({ instancePath }) => parameterOf(instancePath)))
    }
    const isInteger = (name: string) => (integers ??= findIntegers()).has(name)
    const problems = checkNumbers({ values: value, unusual, part, isInteger }).slice(0, maxProblems)
    return problems.length === 0 ? found : [...(found ?? []), ...problems]
  }
}

/** Returns those of the parameters that can be null. */
type NullCheck = (values: Readonly<Record<string, unknown>>, names: readonly string[]) => readonly string[]

/** Treats the text `null` in a query as null for nullable parameters, because clients send it. */
function withNulls(check: Validator, findNullable: NullCheck): Validator {
  return (value) => {
    const values = value as Record<string, unknown>
    const written = Object.keys(values).filter((name) => values[name] === 'null')
    const names = written.length === 0 ? [] : findNullable(values, written)
    if (names.length === 0) return check(value)
    for (const name of names) delete values[name] // would be coerced to 0, "" or false if those types are allowed too
    const isMissing = ({ path, message }: SchemaProblem) =>
      message === 'is required' && names.some((name) => path === `query/${name}`)
    const found = check(value)?.filter((problem) => !isMissing(problem)) ?? []
    for (const name of names) values[name] = null
    return found.length === 0 ? undefined : found
  }
}

/** Makes a function that finds parameters that accept null without accepting everything. */
function makeNullCheck(schema: JsonSchema, named: NamedSchemas): NullCheck {
  let plain: ValidateFunction | undefined
  return (values, names) => {
    plain ??= compile(schema, named, { isCoerced: false, allErrors: true })
    const [ofNull, ofObject] = [null, {}].map((probe) => {
      plain!({ ...values, ...Object.fromEntries(names.map((name) => [name, probe])) })
      const rejected = plain!.errors?.filter(({ instancePath }) => instancePath !== '') ?? []
      return new Set(rejected.map(({ instancePath }) => parameterOf(instancePath)))
    })
    return names.filter((name) => !ofNull!.has(name) && ofObject!.has(name))
  }
}

function mentions(type: string, schema: JsonSchema, named: NamedSchemas): boolean {
  const text = JSON.stringify([schema, named])
  return text.includes(`"${type}"`) || (type === 'null' && /[:,[]null[,\]}]/.test(text))
}

/** Patterns run on an engine with linear time, so that no input can block the process. */
export const patternOptions: Options = {
  code: { regExp: Object.assign((pattern: string) => compilePattern(pattern), { code: '' }) },
}

export interface CompileOptions {
  readonly isCoerced: boolean
  readonly allErrors: boolean
  readonly budget?: StepBudget | undefined
  /** Changes each schema before it is compiled. */
  change?(schema: JsonSchema): JsonSchema
  readonly keywords?: readonly CodeKeywordDefinition[]
  /** Replaces `Object.keys`. */
  listKeys?(object: object): readonly string[]
}

export function compile(
  schema: JsonSchema,
  named: NamedSchemas,
  { isCoerced, allErrors, budget, change = (one) => one, keywords = [], listKeys }: CompileOptions,
): ValidateFunction {
  const ajv = new Ajv2020({
    code: {
      ...(budget === undefined ? patternOptions.code : { regExp: makePatternEngine(budget) }),
      // Ajv passes itself to the code as `self`.
      ...(listKeys && { process: (code: string) => `const Object = self.ownObject\n${code}` }),
    },
    ...(listKeys === undefined ? ownPropertyOptions(schema, named) : { ownProperties: true }),
    strict: false, // `validate` has already checked in strict mode
    strictNumbers: true,
    allErrors,
    coerceTypes: isCoerced ? 'array' : false,
    validateSchema: false,
    logger: false,
  })
  if (listKeys !== undefined)
    Object.assign(ajv, { ownObject: Object.assign(Object.create(Object), { keys: listKeys }) })
  // With this option, `anyOf` checks all alternatives even if the first one is valid.
  if (!JSON.stringify([schema, named]).includes('"unevaluated')) ajv.opts.unevaluated = false
  ajvFormats.default(ajv)
  useExactFormats(ajv)
  useExactKeywords(ajv, { _, Name }, (steps) => budget?.spend(steps))
  ajv.addKeyword(makeExcludedKeyword())
  if (budget !== undefined) ajv.addKeyword(makeStepKeyword(budget))
  for (const keyword of keywords) ajv.addKeyword(keyword)
  const prepare = (one: JsonSchema) => {
    const changed = change(movePrototype(toDraft2020(one)))
    return budget === undefined ? changed : addSteps(changed, allErrors)
  }
  for (const [id, one] of Object.entries(mapNamed(named, prepare))) ajv.addSchema(one, id)
  return ajv.compile(prepare(schema) as object)
}

export function mapNamed(
  named: NamedSchemas,
  change: (schema: JsonSchema) => JsonSchema,
): Record<string, Exclude<JsonSchema, boolean>> {
  return Object.fromEntries(
    Object.entries(named).map(([name, one]) => [
      `schema:///${encodeURIComponent(name)}`,
      change(one) as Exclude<JsonSchema, boolean>,
    ]),
  )
}

function describe(
  found: readonly ErrorObject[] | null | undefined,
  part: Part,
  value: unknown,
): readonly SchemaProblem[] {
  const all = found ?? []
  const described = all.slice(0, maxProblems).map((problem) => {
    const at = part + problem.instancePath
    const parameters = problem.params as Record<string, unknown>
    switch (problem.keyword) {
      case 'required':
        return { path: `${at}/${String(parameters['missingProperty'])}`, message: 'is required' }
      case 'additionalProperties':
        return { path: `${at}/${String(parameters['additionalProperty'])}`, message: 'is unknown' }
      case 'enum':
        return { path: at, message: `must be one of ${listValues(parameters['allowedValues'])}` }
      case 'type':
        return { path: at, message: describeType(parameters['type'], isRepeated(problem, part, value)) }
      case 'minimum':
      case 'maximum':
        if (isExactLimit(problem.keyword, parameters['limit']))
          return { path: at, message: `must be an integer ${exactIntegers}` }
        return { path: at, message: problem.message! }
      default:
        return { path: at, message: problem.message ?? 'does not match its schema' }
    }
  })
  const more = all.length - maxProblems
  if (more <= 0) return described
  return [...described, { path: part, message: `has ${more} more ${more === 1 ? 'problem' : 'problems'}` }]
}

function describeType(type: unknown, wasRepeated: boolean): string {
  return wasRepeated ? 'must not be repeated' : `must be ${[type].flat().join(' or ')}`
}

/** Whether a query parameter that must not be a list was sent more than once. */
function isRepeated({ instancePath }: ErrorObject, part: Part, value: unknown): boolean {
  const isParameter = part === 'query' && /^\/[^/]*$/.test(instancePath)
  return isParameter && Array.isArray((value as Record<string, unknown>)[parameterOf(instancePath)])
}

/** The parameter's name: the first segment of a JSON pointer. */
function parameterOf(instancePath: string): string {
  return unescapeStep(instancePath.split('/')[1] ?? '')
}

function listValues(values: unknown): string {
  return (values as readonly unknown[]).map((one) => JSON.stringify(one)).join(', ')
}
