import type * as Ajv from 'ajv/dist/2020.js'
import type * as Formats from 'ajv-formats'
import { createRequire } from 'node:module'
import { resolveReferences, useExactKeywords, type Variables } from '../kit/index.ts'

/** The config of a class as it is given to it, or what is wrong with it. */
export type PreparedConfig =
  | { readonly config: Readonly<Record<string, unknown>> }
  /** Variables that are not set. */
  | { readonly missing: readonly string[] }
  /** Why it does not fit the schema of the class; without any value, which may be secret. */
  | { readonly problem: string }

export type PrepareConfig = (schema: object, config: Readonly<Record<string, unknown>>) => PreparedConfig

/**
 * Makes what resolves the variables of a config, checks it against the schema of its class and fills in the defaults.
 * What a variable holds is always text, so `"10"` is 10 where a number is asked for.
 */
export function makeConfigPreparer(variables: Variables): PrepareConfig {
  const { Ajv2020, addFormats } = loadCompiler()
  const ajv = new Ajv2020({ strict: false, coerceTypes: true, useDefaults: true, validateSchema: false, logger: false })
  addFormats(ajv)
  useExactKeywords(ajv)
  return (schema, config) => {
    const { value, missing } = resolveReferences(config, variables)
    if (missing.length > 0) return { missing }
    const prepared = structuredClone(value)
    if (ajv.validate(schema, prepared)) return { config: prepared }
    const [first] = ajv.errors ?? []
    const at = first === undefined || first.instancePath === '' ? '' : `${first.instancePath.slice(1)} `
    return { problem: `${at}${first?.message ?? 'does not match'}` }
  }
}

/** Here and not at the beginning: who only looks at the plugins, as validate does, does not wait for it. */
function loadCompiler() {
  const require = createRequire(import.meta.url)
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof Ajv
  const { default: addFormats } = (require('ajv-formats') as typeof Formats).default
  return { Ajv2020, addFormats }
}
