import type { Options } from 'ajv'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import buildSerializer, { type Schema } from 'fast-json-stringify'
import type { JsonSchema } from '../contract/index.ts'
import { compilePattern, makeExactKeywords, useExactKeywords } from '../kit/index.ts'
import { checkNumbers, findOddTexts } from './check-numbers.ts'
import { keepDeclared } from './keep-declared.ts'
import { unescapeStep, exactPrefix, makeDefaults, toDraft07, toDraft2020 } from '../schema/index.ts'

/** One thing that does not fit: `path` is a JSON pointer below the part's name, for example `body/title`. */
export interface SchemaProblem {
  readonly path: string
  readonly message: string
}

/** Checks a value, after defaults are filled in and values coerced where the part says so. @returns undefined when it fits */
export type Validator = (value: unknown) => readonly SchemaProblem[] | undefined

export type Serializer = (value: unknown) => string

/** What a schema is for: path and query are coerced, query and body get defaults, everything else is left alone. */
export type Part = 'path' | 'query' | 'body' | 'result' | 'data'

export type NamedSchemas = Readonly<Record<string, JsonSchema>>

const mostProblems = 50
const largestThoroughBytes = 64 * 1024

/** @param named the schemas that `schema:///NAME` reaches */
export function compileValidator(schema: JsonSchema, named: NamedSchemas, part: Part): Validator {
  const isCoerced = part === 'path' || part === 'query'
  const fast = compile(schema, named, { isCoerced, allErrors: false })
  let slow: ValidateFunction | undefined
  const thorough = (value: unknown) => {
    slow ??= compile(schema, named, { isCoerced, allErrors: true })
    return slow(value) ? [] : slow.errors!
  }
  const fill = part === 'query' || part === 'body' ? compileDefaults(schema, named) : undefined
  const check: Validator = (value) => {
    fill?.(value)
    if (fast(value)) return undefined
    if (value === undefined) return [{ path: part, message: 'is required' }]
    // Every problem is worth a second pass only where a hostile body cannot make millions of them.
    if (!isCoerced && JSON.stringify(value).length > largestThoroughBytes) return describe(fast.errors, part, value)
    const found = thorough(value)
    return describe(found.length === 0 ? fast.errors : found, part, value)
  }
  if (!isCoerced) return check
  const isNullable = part === 'query' && mentions('null', schema, named) ? makeNullCheck(schema, named) : undefined
  const found = isNullable === undefined ? check : withNulls(check, isNullable)
  const hasNumbers = mentions('integer', schema, named) || mentions('number', schema, named)
  return hasNumbers ? withStrictNumbers({ check: found, thorough, part }) : found
}

/** Not Ajv's own: it fills in those of an alternative that does not fit, and of `allOf` after it was checked. */
function compileDefaults(schema: JsonSchema, named: NamedSchemas): ((value: unknown) => void) | undefined {
  if (!JSON.stringify([schema, named]).includes('"default":')) return undefined
  const all = Object.fromEntries(Object.entries(named).map(([name, one]) => [name, toDraft2020(one)]))
  return makeDefaults(toDraft2020(schema), all)
}

interface Checking {
  readonly check: Validator
  /** Finds every error of Ajv. */
  thorough(value: unknown): readonly ErrorObject[]
  readonly part: Part
}

/** A check that takes only numbers that are written as such: Ajv coerces `0x1`, `1e3` and ` 1` to integers. */
function withStrictNumbers({ check, thorough, part }: Checking): Validator {
  return (value) => {
    const odd = findOddTexts(value)
    const found = check(value)
    if (odd === undefined) return found
    // Who does not take a fraction takes whole numbers only, however the schema says so.
    const isInteger = (name: string) =>
      thorough({ ...(value as object), [name]: '0.5' }).some(
        ({ keyword, instancePath, params }) =>
          keyword === 'type' && parameterOf(instancePath) === name && [params['type']].flat().includes('integer'),
      )
    const misread = checkNumbers({ values: value, odd, part, isInteger })
    return misread.length === 0 ? found : [...(found ?? []), ...misread]
  }
}

type NullCheck = (values: Readonly<Record<string, unknown>>, name: string) => boolean

/** A check that takes the text `null` of a query for null where a parameter may be null: clients write it so. */
function withNulls(check: Validator, isNullable: NullCheck): Validator {
  return (value) => {
    const values = value as Record<string, unknown>
    const names = Object.keys(values).filter((name) => values[name] === 'null' && isNullable(values, name))
    if (names.length === 0) return check(value)
    for (const name of names) delete values[name] // it would be coerced to 0, "" or false where those are allowed too
    const isMissing = ({ path, message }: SchemaProblem) =>
      message === 'is required' && names.some((name) => path === `query/${name}`)
    const found = check(value)?.filter((problem) => !isMissing(problem)) ?? []
    for (const name of names) values[name] = null
    return found.length === 0 ? undefined : found
  }
}

/** Whether a parameter may be null, and not just anything. */
function makeNullCheck(schema: JsonSchema, named: NamedSchemas): NullCheck {
  let plain: ValidateFunction | undefined
  return (values, name) => {
    plain ??= compile(schema, named, { isCoerced: false, allErrors: true })
    const [ofNull, ofObject] = [null, {}].map((probe) => {
      plain!({ ...values, [name]: probe })
      return plain!.errors?.some(({ instancePath }) => instancePath !== '' && parameterOf(instancePath) === name)
    })
    return ofNull !== true && ofObject === true
  }
}

function mentions(type: string, schema: JsonSchema, named: NamedSchemas): boolean {
  const text = JSON.stringify([schema, named])
  return text.includes(`"${type}"`) || (type === 'null' && /[:,[]null[,\]}]/.test(text))
}

/** Writes results; a schema that fast-json-stringify cannot make code of is read with each result. */
export function compileSerializer(schema: JsonSchema, named: NamedSchemas): Serializer {
  let slow: ((value: unknown) => string | undefined) | undefined
  const writeSlowly = (value: unknown): string | undefined => (slow ??= makeSlowWriter(schema, named))(value)
  let fast: Serializer
  try {
    fast = buildFast(schema, named)
  } catch {
    return (value) => {
      const text = writeSlowly(value)
      if (text === undefined) throw new Error('it does not match its schema')
      return text
    }
  }
  return (value) => {
    try {
      return fast(value)
    } catch (error) {
      const text = writeSlowly(value) // it refuses some results that fit
      if (text === undefined) throw error
      return text
    }
  }
}

function buildFast(schema: JsonSchema, named: NamedSchemas): Serializer {
  const external = mapNamed(named, toDraft07)
  const own = toDraft07(schema)
  // It writes what comes behind a tuple as it is, whatever the schema says of it.
  if (JSON.stringify([own, external]).includes('"additionalItems":{')) throw new Error('a tuple with additional items')
  return buildSerializer(
    own as unknown as Schema,
    {
      schema: external,
      ajv: { ...patternOptions, strict: false, logger: false, keywords: makeExactKeywords(exactPrefix) },
    } as Parameters<typeof buildSerializer>[1],
  )
}

/** @returns undefined for a result that does not fit */
function makeSlowWriter(schema: JsonSchema, named: NamedSchemas): (value: unknown) => string | undefined {
  const fits = compile(schema, named, { isCoerced: false, allErrors: false })
  const root = toDraft2020(schema)
  const all = Object.fromEntries(Object.entries(named).map(([name, one]) => [name, toDraft2020(one)]))
  return (value) => {
    const plain: unknown = JSON.parse(JSON.stringify(value) ?? 'null')
    return fits(plain) ? JSON.stringify(keepDeclared(plain, root, all)) : undefined
  }
}

/** Patterns run on an engine whose time is linear, whoever wrote the text. */
const patternOptions: Options = {
  code: { regExp: Object.assign((pattern: string) => compilePattern(pattern), { code: '' }) },
}

interface CompileOptions {
  readonly isCoerced: boolean
  readonly allErrors: boolean
}

function compile(schema: JsonSchema, named: NamedSchemas, { isCoerced, allErrors }: CompileOptions): ValidateFunction {
  const ajv = new Ajv2020({
    ...patternOptions,
    strict: false, // `validate` has been strict already
    allErrors,
    coerceTypes: isCoerced ? 'array' : false,
    validateSchema: false,
    logger: false,
  })
  ajvFormats.default(ajv)
  useExactKeywords(ajv)
  for (const [id, one] of Object.entries(mapNamed(named, toDraft2020))) ajv.addSchema(one, id)
  return ajv.compile(toDraft2020(schema) as object)
}

function mapNamed(named: NamedSchemas, change: (schema: JsonSchema) => JsonSchema): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(named).map(([name, one]) => [
      `schema:///${encodeURIComponent(name)}`,
      change(one) as unknown as Schema,
    ]),
  )
}

function describe(
  found: readonly ErrorObject[] | null | undefined,
  part: Part,
  value: unknown,
): readonly SchemaProblem[] {
  return (found ?? []).slice(0, mostProblems).map((problem) => {
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
      default:
        return { path: at, message: problem.message ?? 'does not match its schema' }
    }
  })
}

function describeType(type: unknown, isTwice: boolean): string {
  return isTwice ? 'must not be repeated' : `must be ${[type].flat().join(' or ')}`
}

/** Whether a query parameter is there more than once and must not: only that makes it a list. */
function isRepeated({ instancePath }: ErrorObject, part: Part, value: unknown): boolean {
  const isParameter = part === 'query' && /^\/[^/]*$/.test(instancePath)
  return isParameter && Array.isArray((value as Record<string, unknown>)[parameterOf(instancePath)])
}

/** The first step of a JSON pointer. */
function parameterOf(instancePath: string): string {
  return unescapeStep(instancePath.split('/')[1] ?? '')
}

function listValues(values: unknown): string {
  return (values as readonly unknown[]).map((one) => JSON.stringify(one)).join(', ')
}
