import { Validator, type Schema } from '@cfworker/json-schema'
import type { Json } from './values.ts'

/** What is wrong with one value. */
export interface Flaw {
  /** JSON pointer within the value that was checked. */
  readonly at: string
  readonly message: string
}

const referencePrefix = 'schema:///'

/**
 * Checks a value against a JSON Schema without generating code, which the policy of the pages forbids.
 * @param named the schemas that `schema:///NAME` refers to
 */
export function checkValue(schema: unknown, value: unknown, named: Json = {}): readonly Flaw[] {
  if (schema === true || schema === undefined || value === undefined) return []
  const validator = new Validator(schema as Schema, '2020-12', false)
  for (const [name, one] of Object.entries(named))
    if (typeof one === 'object' && one !== null) validator.addSchema(one, referencePrefix + encodeURIComponent(name))
  const { errors } = validator.validate(value)
  const flaws = errors.map(({ instanceLocation, keyword, error }): Flaw => {
    return { at: instanceLocation.slice(1), message: writeFlaw(keyword, error) }
  })
  // Errors of outer values only repeat those of inner ones.
  return flaws.filter((one) => !flaws.some((other) => other.at !== one.at && other.at.startsWith(`${one.at}/`)))
}

/** Writes the messages of the validator as those of Waypost. */
export function writeFlaw(keyword: string, error: string): string {
  const [first = '', ...others] = [...error.matchAll(/"([^"]*)"/g)].map(([, one]) => one)
  const of = / (?:any of )?([^ ].*)\.$/.exec(error.replace('Instance does not match', ''))?.[1] ?? ''
  if (keyword === 'required') return `The property "${first}" is missing`
  if (keyword === 'type') return `Must be ${others.join(' or ')}, not ${first}`
  if (keyword === 'const') return `Must be ${of}`
  if (keyword === 'enum') return `Must be one of ${of}`
  if (keyword === 'false') return 'This property is not allowed'
  const [count] = /\d+/.exec(error) ?? []
  if (keyword === 'minProperties') return `Set at least ${count} of these`
  if (keyword === 'maxProperties') return `Set at most ${count} of these`
  if (keyword === 'anyOf' || (keyword === 'oneOf' && count === '0')) return 'Matches none of the alternatives'
  if (keyword === 'oneOf') return `Matches ${count} alternatives, but must match exactly one`
  return error.replace(/\.$/, '')
}
