import type * as Ajv from 'ajv/dist/2020.js'
import type * as Formats from 'ajv-formats'
import { createRequire } from 'node:module'
import { resolveReferences, useExactFormats, useExactKeywords, type Variables } from '../kit/index.ts'

/** The config to pass to a class, or the reason why it is invalid. */
export type PreparedConfig =
  | { readonly config: Readonly<Record<string, unknown>> }
  /** The names of unset variables. */
  | { readonly missing: readonly string[] }
  /** Why it does not match the schema of the class, without values, which may be secret. */
  | { readonly problem: string }

export type PrepareConfig = (schema: object, config: Readonly<Record<string, unknown>>) => PreparedConfig

/**
 * Returns a function that resolves the variables of a config, validates it against the schema of its class and applies
 * defaults. Values of variables are text, so `"10"` is accepted as the number 10.
 */
export function makeConfigPreparer(variables: Variables): PrepareConfig {
  let ajv: Ajv.Ajv2020 | undefined
  return (schema, config) => {
    const { value, missing } = resolveReferences(config, variables)
    if (missing.length > 0) return { missing }
    const prepared = structuredClone(value)
    ajv ??= createValidator()
    if (ajv.validate(schema, prepared)) return { config: prepared }
    const [first] = ajv.errors ?? []
    const at = first === undefined || first.instancePath === '' ? '' : `${first.instancePath.slice(1)} `
    return { problem: `${at}${first?.message ?? 'does not match'}` }
  }
}

/** Loads the validator on first use, because many projects have no config to check. */
function createValidator(): Ajv.Ajv2020 {
  const require = createRequire(import.meta.url)
  const { Ajv2020, _, Name } = require('ajv/dist/2020.js') as typeof Ajv
  const { default: addFormats } = (require('ajv-formats') as typeof Formats).default
  const ajv = new Ajv2020({
    strict: false,
    strictNumbers: true, // a variable may be "1e400" or "Infinity"
    coerceTypes: true,
    useDefaults: true,
    validateSchema: false,
    logger: false,
  })
  addFormats(ajv)
  useExactFormats(ajv)
  useExactKeywords(ajv, { _, Name })
  return ajv
}
