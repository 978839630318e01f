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
  const flaws = errors.map(({ instanceLocation, error }): Flaw => ({ at: instanceLocation.slice(1), message: error }))
  // Errors of outer values only repeat those of inner ones.
  return flaws.filter((one) => !flaws.some((other) => other.at !== one.at && other.at.startsWith(`${one.at}/`)))
}
