import type { ConfigProblem, JsonSchema } from '../contract/index.ts'
import { isActionHttp } from './is-action-http.ts'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isSchema = (value: unknown): value is JsonSchema => typeof value === 'boolean' || isRecord(value)

/** Returns why a value is not a description. Classes of plugins are not necessarily written in TypeScript. */
export function findShapeProblem(value: unknown): string | undefined {
  if (!isRecord(value)) return 'it did not return an object'
  for (const key of ['params', 'parameters', 'request'])
    if (value[key] !== undefined && !isSchema(value[key])) return `"${key}" is not a JSON Schema`
  const { http, plan, problems = [] } = value
  const problem = findResponseProblem(value)
  if (problem !== undefined) return problem
  if (http !== undefined && !isActionHttp(http))
    return '"http" must be { headers: { NAME: "optional" | "required" }, responses: { STATUS: { type, headers, description } }, behavior: { NAME: TEXT } }'
  if (plan !== undefined && !(isRecord(plan) && Number.isSafeInteger(plan['format'])))
    return '"plan" must be an object with a number "format"'
  if (!Array.isArray(problems) || !problems.every(isProblem)) return '"problems" must be a list of { at, message }'
  return undefined
}

function findResponseProblem({
  responses = {},
  responseTypes = {},
  schemas = {},
}: Readonly<Record<string, unknown>>): string | undefined {
  if (!isRecord(schemas) || !Object.values(schemas).every(isSchema))
    return '"schemas" must contain a JSON Schema by name'
  if (
    !isRecord(responses) ||
    !Object.entries(responses).every(([key, one]) => /^[2-5]\d\d$/.test(key) && isSchema(one))
  )
    return '"responses" must contain a JSON Schema for each status'
  if (!isRecord(responseTypes) || !Object.values(responseTypes).every(isMediaTypes))
    return '"responseTypes" must contain { TYPE: { schema } } for each status'
  return undefined
}

function isMediaTypes(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.entries(value).every(([type, one]) => /^[a-z]+\/[a-z0-9!#$&^_.+-]+$/.test(type) && isRecord(one))
  )
}

function isProblem(value: unknown): value is ConfigProblem {
  if (!isRecord(value) || typeof value['at'] !== 'string' || typeof value['message'] !== 'string') return false
  const { unknown } = value
  return (
    unknown === undefined || (isRecord(unknown) && typeof unknown['name'] === 'string' && isTexts(unknown['known']))
  )
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
