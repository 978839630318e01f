import { _, type CodeKeywordDefinition } from 'ajv'
import type { JsonSchema } from '../contract/index.ts'
import { mapSubSchemas, type NamedSchemas } from '../schema/index.ts'
import { compile } from './compile-schema.ts'
import { StepBudget } from './step-budget.ts'

/**
 * Whether the JSON form of a result matches its schema, found out without making it. False also means that only the JSON
 * form can tell: most objects with `toJSON`, and numbers that JSON does not have.
 */
export type ResultCheck = (value: unknown) => boolean

/** Compiles the check of results. It costs a fraction of serializing them. */
export function compileResultCheck(schema: JsonSchema, named: NamedSchemas): ResultCheck {
  if (depends.test(JSON.stringify([schema, named]))) return () => false
  const budget = new StepBudget()
  const fits = compile(schema, named, {
    isCoerced: false,
    allErrors: false,
    budget,
    change: markForms,
    keywords: [formKeyword],
  })
  return (value) => {
    budget.left = maxSteps
    try {
      return fits(value)
    } catch {
      return false // too many steps, a getter that throws, or a value that contains itself
    }
  }
}

const maxSteps = 100_000

/** Keywords that may accept a value whose JSON form they reject, for example because undefined properties count. */
const depends =
  /"(?:not|if|dependencies|dependent\w+|contains|uniqueItems|minProperties|maxProperties|propertyNames|unevaluated\w+|\$dynamicRef)":/

const keyword = 'x-form'
/** `text`: a string, or a Date, whose JSON form is one. `any`: what has the same JSON form as a copy of its properties. */
type Form = 'text' | 'nullable text' | 'any'

const formKeyword: CodeKeywordDefinition = {
  keyword,
  schemaType: 'string',
  code(context) {
    const { data, gen } = context
    const form = context.schema as Form
    if (form === 'any') {
      const isPlain = gen.scopeValue('func', { ref: hasPlainForm })
      return context.fail(_`!${isPlain}(${data})`)
    }
    const isTime = gen.scopeValue('func', { ref: isWritableDate })
    const isText = _`typeof ${data} == "string" || ${isTime}(${data})`
    return context.fail(form === 'text' ? _`!(${isText})` : _`${data} !== null && !(${isText})`)
  },
}

const lastMs = Date.parse('9999-12-31T23:59:59.999Z')
const firstMs = Date.parse('0000-01-01T00:00:00.000Z')

function isWritableDate(value: unknown): boolean {
  return value instanceof Date && value.getTime() >= firstMs && value.getTime() <= lastMs
}

function hasPlainForm(value: unknown): boolean {
  switch (typeof value) {
    case 'object':
      return value === null || typeof (value as { readonly toJSON?: unknown }).toJSON !== 'function'
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value)
    default:
      return false
  }
}

/** Adds the keyword to all schemas that accept values other than strings and numbers. */
function markForms(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean') return schema ? { [keyword]: 'any' } : schema
  const inner = mapSubSchemas(schema, markForms)
  const { type, ...rest } = inner
  if (type === undefined) return leavesToOthers(schema) ? inner : mark(inner, 'any')
  const types = new Set([type].flat())
  if (isTextOrDate(types, rest)) return mark(rest, types.has('null') ? 'nullable text' : 'text')
  if (types.has('array') && inner['items'] === undefined) return mark({ ...inner, items: { [keyword]: 'any' } }, 'any')
  return types.has('array') || types.has('object') ? mark(inner, 'any') : inner
}

function mark(schema: Exclude<JsonSchema, boolean>, form: Form): JsonSchema {
  return { ...schema, [keyword]: form }
}

const combining: ReadonlySet<string> = new Set(['$ref', 'allOf', 'anyOf', 'oneOf'])
const neutral: ReadonlySet<string> = new Set([
  '$id', '$anchor', '$defs', 'definitions', '$comment', 'title', 'description',
]) // prettier-ignore

/** Whether only other schemas, which are marked too, decide about the value. */
function leavesToOthers(schema: Exclude<JsonSchema, boolean>): boolean {
  const keys = Object.keys(schema)
  return keys.some((key) => combining.has(key)) && keys.every((key) => combining.has(key) || neutral.has(key))
}

function isTextOrDate(types: ReadonlySet<unknown>, rest: Readonly<Record<string, unknown>>): boolean {
  const isText = types.has('string') && types.size === (types.has('null') ? 2 : 1)
  const isAnyDate = rest['format'] === undefined || rest['format'] === 'date-time'
  return isText && isAnyDate && !limits.some((limit) => Object.hasOwn(rest, limit))
}

const limits = ['minLength', 'maxLength', 'pattern', 'enum', 'const']
