import type { DataCheck } from '../events/index.ts'
import type { Manifest } from '../release/index.ts'
import type { Validator } from './compile-schema.ts'
import { getMaxSteps } from './step-budget.ts'
import type { SchemaCache } from './schema-cache.ts'

/**
 * Checks dispatched data against the schema of its event. Schemas are compiled at the first dispatch.
 * @param current the manifest being served; `dev` can replace it by one with the same events but other schemas
 */
export function makeDataCheck(schemas: SchemaCache, current: () => Pick<Manifest, 'events' | 'schemas'>): DataCheck {
  let manifest = current()
  let compiled = new Map<string, Validator | undefined>()

  function validatorOf(event: string): Validator | undefined {
    if (current() !== manifest) {
      manifest = current()
      compiled = new Map()
    }
    if (!compiled.has(event)) {
      const { schema } = manifest.events[event] ?? {}
      const validator = schema === undefined ? undefined : schemas.validator(schema, manifest.schemas, 'data')
      compiled.set(event, validator)
    }
    return compiled.get(event)
  }

  return (event, text) => validatorOf(event)?.(JSON.parse(text), getMaxSteps(text.length), text.length)
}
