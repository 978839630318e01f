import { _, type CodeKeywordDefinition } from 'ajv'
import type { JsonSchema } from '../contract/index.ts'
import { compilePattern } from '../kit/index.ts'
import { mapSubSchemas } from '../schema/index.ts'

const mb = 1024 * 1024
/** A step takes up to a quarter of a microsecond. */
const stepsPerMb = 400_000

/** Returns how many steps the check of a body may take. Projects that accept larger bodies accept more steps. */
export function getMaxSteps(bodyLimit: number): number {
  return Math.round(stepsPerMb * Math.max(1, bodyLimit / mb))
}

/**
 * Limits how many steps a check takes: a recursive schema with alternatives doubles the work with each level of a body, and
 * a short body can have many values that are expensive to check.
 */
export class StepBudget {
  left = Infinity
  /** Thrown when no steps are left. */
  readonly exceeded = new Error('The check takes too many steps')

  spend(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw this.exceeded
  }
}

const keyword = 'x-steps'

/** Makes the keyword that `addSteps` writes. */
export function makeStepKeyword(budget: StepBudget): CodeKeywordDefinition {
  return {
    keyword,
    schemaType: 'number',
    before: '$ref', // that is, before everything that checks the value by other schemas
    code({ gen, schema }) {
      const own = gen.scopeValue('obj', { ref: budget })
      gen.if(_`(${own}.left -= ${schema as number}) < 0`, () => gen.code(_`throw ${own}.exceeded`))
    },
  }
}

/**
 * Writes into each sub-schema how many steps it takes; if all errors are collected, each missing property is one. Puts
 * simple properties first, so that an alternative that a constant excludes is left before its other properties are checked.
 */
export function addSteps(schema: JsonSchema, allErrors: boolean): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const inner = withKeySteps(withContainsSteps(mapSubSchemas(schema, (one) => addSteps(one, allErrors))))
  const steps = countSteps(schema) + (allErrors ? measure(schema['required']) : 0)
  if (steps === 0) return inner
  const { properties } = inner as { readonly properties?: Readonly<Record<string, JsonSchema>> }
  return { ...inner, ...(properties === undefined ? {} : { properties: sortProperties(properties) }), [keyword]: steps }
}

/** Each item that `contains` rejects is an error until another one is accepted. */
function withContainsSteps(schema: Exclude<JsonSchema, boolean>): Exclude<JsonSchema, boolean> {
  const { contains } = schema as { readonly contains?: JsonSchema }
  if (contains === undefined || typeof contains === 'boolean') return schema
  return { ...schema, contains: { ...contains, [keyword]: Number(contains[keyword] ?? 0) + 2 } }
}

/** The properties of a large object are checked again by each schema that has one for all of them. */
function withKeySteps(schema: Exclude<JsonSchema, boolean>): Exclude<JsonSchema, boolean> {
  const added = forAllKeys.flatMap((name) => {
    const one = schema[name] as JsonSchema | undefined
    return typeof one === 'object' ? [[name, { ...one, [keyword]: Number(one[keyword] ?? 0) + 1 }] as const] : []
  })
  return added.length === 0 ? schema : { ...schema, ...Object.fromEntries(added) }
}

const forAllKeys = ['additionalProperties', 'unevaluatedProperties', 'propertyNames']

function sortProperties(properties: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  const isSimple = (schema: JsonSchema) =>
    typeof schema === 'boolean' || !(Object.hasOwn(schema, keyword) || Object.hasOwn(schema, '$ref'))
  const entries = Object.entries(properties)
  return Object.fromEntries([
    ...entries.filter(([, schema]) => isSimple(schema)),
    ...entries.filter(([, schema]) => !isSimple(schema)),
  ])
}

const structures: ReadonlySet<string> = new Set([
  'properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'propertyNames', 'required',
  'dependentRequired', 'dependentSchemas', 'items', 'prefixItems', 'contains', 'unevaluatedItems', 'uniqueItems',
  'allOf', 'anyOf', 'oneOf', 'not', 'if',
]) // prettier-ignore
const alternatives: ReadonlySet<string> = new Set(['anyOf', 'oneOf'])

/** Returns 0 for a schema of simple values, whose check costs about as much as reading them. */
function countSteps(schema: Readonly<Record<string, unknown>>): number {
  const keys = Object.keys(schema)
  const sum = (counts: readonly number[]) => counts.reduce((one, other) => one + other, 0)
  const size = sum(keys.filter((key) => structures.has(key)).map((key) => 32 + measure(schema[key])))
  const branches = sum(keys.filter((key) => alternatives.has(key)).map((key) => measure(schema[key])))
  const values = [schema['const'], ...(Array.isArray(schema['enum']) ? schema['enum'] : [])]
  const structured = values.filter((value) => typeof value === 'object' && value !== null).length
  return Math.ceil(size / 128) + branches + 2 * structured
}

function measure(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
}

/** Returns `code.regExp` of Ajv with patterns that take steps. They run on an engine with linear time. */
export function makePatternEngine(budget: StepBudget) {
  const compile = (source: string) => {
    const pattern = compilePattern(source)
    return {
      test: (text: string) => {
        budget.spend(8 + text.length / 16)
        return pattern.test(text)
      },
      toString: () => pattern.toString(),
    }
  }
  return Object.assign(compile, { code: '' })
}
