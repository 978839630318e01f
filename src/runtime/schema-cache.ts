import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import buildSerializer, { type Schema } from 'fast-json-stringify'
import type { JsonSchema } from '../contract/index.ts'

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

type NamedSchemas = Readonly<Record<string, JsonSchema>>

/** Validators and serialisers by the content of a schema with all that it references, kept over generations. */
export interface SchemaCache {
  validator(schema: JsonSchema, named: NamedSchemas, part: Part): Validator
  serializer(schema: JsonSchema, named: NamedSchemas): Serializer
  readonly size: number
}

const mostProblems = 50

export function makeSchemaCache(): SchemaCache {
  const validators = new Map<string, Validator>()
  const serializers = new Map<string, Serializer>()

  return {
    validator(schema, named, part) {
      const used = closure(schema, named)
      return remember(validators, `${part} ${JSON.stringify([schema, used])}`, () =>
        compileValidator(schema, used, part),
      )
    },
    serializer(schema, named) {
      const used = closure(schema, named)
      return remember(serializers, JSON.stringify([schema, used]), () => compileSerializer(schema, used))
    },
    get size() {
      return validators.size + serializers.size
    },
  }
}

function remember<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const value = make()
  map.set(key, value)
  return value
}

const namedReference = /"\$ref":"schema:\/\/\/([^"#]+)/g

/** The named schemas that a schema reaches, directly or through others. */
function closure(schema: JsonSchema, named: NamedSchemas): NamedSchemas {
  const reached: Record<string, JsonSchema> = {}
  const waiting = [schema]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const [, encoded] of JSON.stringify(next).matchAll(namedReference)) {
      const name = decodeURIComponent(encoded!)
      const target = named[name]
      if (target === undefined || Object.hasOwn(reached, name)) continue
      reached[name] = target
      waiting.push(target)
    }
  }
  return Object.fromEntries(Object.entries(reached).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function schemaId(name: string): string {
  return `schema:///${encodeURIComponent(name)}`
}

function compileValidator(schema: JsonSchema, named: NamedSchemas, part: Part): Validator {
  const isCoerced = part === 'path' || part === 'query'
  const fast = compile(schema, named, { isCoerced, allErrors: false })
  let thorough: ValidateFunction | undefined
  return (value) => {
    if (fast(value)) return isCoerced ? checkNumbers(value, part) : undefined
    if (value === undefined) return [{ path: part, message: 'is required' }]
    // Every problem is worth a second pass only where a hostile body cannot make millions of them.
    const isSmall = isCoerced || JSON.stringify(value ?? null).length <= 64 * 1024
    if (!isSmall) return describe(fast.errors, part)
    thorough ??= compile(schema, named, { isCoerced, allErrors: true })
    return thorough(value) ? describe(fast.errors, part) : describe(thorough.errors, part)
  }
}

/** Ajv coerces `1e999` to an integer that is infinite, and digits that no number holds to one that is near. */
function checkNumbers(values: unknown, part: Part): readonly SchemaProblem[] | undefined {
  const wrong = Object.entries(values as object).filter(([, value]) => [value].flat().some(isInexact))
  if (wrong.length === 0) return undefined
  const limits = `from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`
  return wrong.map(([name]) => ({ path: `${part}/${name}`, message: `must be a number ${limits}` }))
}

function isInexact(value: unknown): boolean {
  return (
    typeof value === 'number' &&
    (Number.isFinite(value) ? Number.isInteger(value) && !Number.isSafeInteger(value) : true)
  )
}

function compile(
  schema: JsonSchema,
  named: NamedSchemas,
  options: { isCoerced: boolean; allErrors: boolean },
): ValidateFunction {
  const ajv = new Ajv2020({
    strict: false, // `validate` has been strict already
    allErrors: options.allErrors,
    coerceTypes: options.isCoerced ? 'array' : false,
    useDefaults: options.isCoerced,
    validateSchema: false,
    logger: false,
  })
  ajvFormats.default(ajv)
  for (const [name, one] of Object.entries(named)) ajv.addSchema(withoutDialect(one) as never, schemaId(name))
  return ajv.compile(withoutDialect(schema) as never)
}

/** `$schema` chose the dialect when the definition was checked; Ajv would look for its meta-schema. */
function withoutDialect(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean' || !('$schema' in schema)) return schema
  const { $schema: _, ...rest } = schema
  return rest
}

function describe(found: readonly ErrorObject[] | null | undefined, part: Part): readonly SchemaProblem[] {
  return (found ?? []).slice(0, mostProblems).map((problem) => {
    const at = part + problem.instancePath
    const parameters = problem.params as Record<string, unknown>
    if (problem.keyword === 'required')
      return { path: `${at}/${String(parameters['missingProperty'])}`, message: 'is required' }
    if (problem.keyword === 'additionalProperties') {
      return { path: `${at}/${String(parameters['additionalProperty'])}`, message: 'is not known here' }
    }
    if (problem.keyword === 'enum') {
      return {
        path: at,
        message: `must be one of ${(parameters['allowedValues'] as unknown[]).map((one) => JSON.stringify(one)).join(', ')}`,
      }
    }
    return { path: at, message: problem.message ?? 'does not fit its schema' }
  })
}

function compileSerializer(schema: JsonSchema, named: NamedSchemas): Serializer {
  const external = Object.fromEntries(
    Object.entries(named).map(([name, one]) => [schemaId(name), withoutDialect(one) as unknown as Schema]),
  )
  return buildSerializer(withoutDialect(schema) as unknown as Schema, { schema: external })
}
