import type { Options } from 'ajv'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import buildSerializer, { type Schema } from 'fast-json-stringify'
import type { JsonSchema } from '../contract/index.ts'
import { compilePattern } from '../kit/index.ts'
import { toDraft07, toDraft2020 } from './schema-dialects.ts'

/** One thing that does not fit: `path` is a JSON pointer below the part's name, for example `body/title`. */
export interface SchemaProblem {
  readonly path: string
  readonly message: string
}

/** Checks a value, coercing it first where the part is coerced. @returns undefined when it fits */
export type Validator = (value: unknown) => readonly SchemaProblem[] | undefined

export type Serializer = (value: unknown) => string

/** The part of a request that a schema is for: path and query are coerced and get defaults, bodies are left alone. */
export type Part = 'path' | 'query' | 'body' | 'result'

export type NamedSchemas = Readonly<Record<string, JsonSchema>>

const mostProblems = 50
const largestThoroughBytes = 64 * 1024

/** @param named the schemas that `schema:///NAME` reaches */
export function compileValidator(schema: JsonSchema, named: NamedSchemas, part: Part): Validator {
  const isCoerced = part === 'path' || part === 'query'
  const fast = compile(schema, named, { isCoerced, allErrors: false })
  let thorough: ValidateFunction | undefined
  return (value) => {
    if (fast(value)) return isCoerced ? checkNumbers(value, part) : undefined
    if (value === undefined) return [{ path: part, message: 'is required' }]
    // Every problem is worth a second pass only where a hostile body cannot make millions of them.
    if (!isCoerced && JSON.stringify(value).length > largestThoroughBytes) return describe(fast.errors, part)
    thorough ??= compile(schema, named, { isCoerced, allErrors: true })
    return describe(thorough(value) ? fast.errors : thorough.errors, part)
  }
}

export function compileSerializer(schema: JsonSchema, named: NamedSchemas): Serializer {
  const external = mapNamed(named, toDraft07)
  return buildSerializer(
    toDraft07(schema) as unknown as Schema,
    { schema: external, ajv: patternOptions } as Parameters<typeof buildSerializer>[1],
  )
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
    useDefaults: isCoerced,
    validateSchema: false,
    logger: false,
  })
  ajvFormats.default(ajv)
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

/** Ajv coerces `1e999` to an integer that is infinite, and digits that no number holds to one that is near. */
function checkNumbers(values: unknown, part: Part): readonly SchemaProblem[] | undefined {
  const wrong = Object.entries(values as object).filter(([, value]) => [value].flat().some(isInexact))
  if (wrong.length === 0) return undefined
  const limits = `from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`
  return wrong.map(([name]) => ({ path: `${part}/${name}`, message: `must be a number ${limits}` }))
}

function isInexact(value: unknown): boolean {
  if (typeof value !== 'number') return false
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))
}

function describe(found: readonly ErrorObject[] | null | undefined, part: Part): readonly SchemaProblem[] {
  return (found ?? []).slice(0, mostProblems).map((problem) => {
    const at = part + problem.instancePath
    const parameters = problem.params as Record<string, unknown>
    switch (problem.keyword) {
      case 'required':
        return { path: `${at}/${String(parameters['missingProperty'])}`, message: 'is required' }
      case 'additionalProperties':
        return { path: `${at}/${String(parameters['additionalProperty'])}`, message: 'is not known here' }
      case 'enum':
        return { path: at, message: `must be one of ${listValues(parameters['allowedValues'])}` }
      default:
        return { path: at, message: problem.message ?? 'does not fit its schema' }
    }
  })
}

function listValues(values: unknown): string {
  return (values as readonly unknown[]).map((one) => JSON.stringify(one)).join(', ')
}
