import type { ActionDescription, ActionUse, JsonSchema } from 'waypost'
import { escapeStep, unescapeStep } from './pointers.ts'
import type { TableUse } from './table-use.ts'

type Schema = Readonly<Record<string, unknown>>
type NamedSchemas = Readonly<Record<string, JsonSchema>>

/** Returns a schema that a value matches if it matches both. */
export function narrowSchema(derived: JsonSchema, declared: JsonSchema | undefined): JsonSchema {
  if (declared === undefined || declared === true) return derived
  if (declared === false) return false
  if ('$ref' in declared) {
    // Draft-07 ignores keywords beside $ref. Local references point to definitions at the root.
    const { $defs, definitions, ...rest } = declared
    return {
      allOf: [derived, rest],
      ...($defs !== undefined && { $defs }),
      ...(definitions !== undefined && { definitions }),
    }
  }
  return { ...declared, allOf: [derived, ...((declared['allOf'] ?? []) as readonly JsonSchema[])] }
}

/** Like `narrowSchema`, for bodies. A PATCH ignores defaults, which would overwrite columns that the caller did not send. */
export function narrowRequest(derived: JsonSchema, { method, declared, schemas }: ActionUse): JsonSchema {
  const { request } = declared
  if (method !== 'PATCH' || request === undefined) return narrowSchema(derived, request)
  return narrowSchema(derived, withoutDefaults(request, schemas))
}

/** Returns a schema without defaults. Copies the named schemas that it refers to, because they may have some. */
export function withoutDefaults(schema: JsonSchema, named: NamedSchemas): JsonSchema {
  const reached = new Map<string, JsonSchema>()
  const own = strip(schema, undefined, reached)
  const waiting = [...reached.keys()]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const before = new Set(reached.keys())
    reached.set(name, strip(Object.hasOwn(named, name) ? named[name]! : true, name, reached))
    waiting.push(...[...reached.keys()].filter((one) => !before.has(one)))
  }
  if (reached.size === 0 || typeof own === 'boolean') return own
  return {
    ...own,
    $defs: { ...(own['$defs'] as Schema | undefined), ...Object.fromEntries([...reached].map(toDefinition)) },
  }
}

const prefix = 'schema:///'
const definitionOf = (name: string) => `named-${name}`
const toDefinition = ([name, schema]: readonly [string, JsonSchema]) => [definitionOf(name), schema] as const

/** Keywords whose value maps names to schemas. */
const maps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords whose value is data. */
const data = new Set(['const', 'enum', 'examples', 'example', 'required'])

function strip(schema: JsonSchema, within: string | undefined, reached: Map<string, JsonSchema>): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    return typeof value === 'object' && value !== null ? strip(value as Schema, within, reached) : value
  }
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (keyword === 'default' || (within !== undefined && keyword === '$id')) return []
    if (keyword === '$ref') return [[keyword, moveReference(String(value), within, reached)]]
    if (data.has(keyword)) return [[keyword, value]]
    if (!maps.has(keyword)) return [[keyword, visit(value)]]
    return [[keyword, Object.fromEntries(Object.entries(value as Schema).map(([name, one]) => [name, visit(one)]))]]
  })
  return Object.fromEntries(entries)
}

/** Returns a reference to the copy of a named schema in `$defs`. */
function moveReference(reference: string, within: string | undefined, reached: Map<string, JsonSchema>): string {
  const [target = '', pointer = ''] = reference.split('#')
  if (target !== '' && !target.startsWith(prefix)) return reference
  const name = target === '' ? within : decodeURIComponent(target.slice(prefix.length))
  if (name === undefined) return reference
  if (!reached.has(name)) reached.set(name, true)
  return `#/$defs/${encodeURIComponent(escapeStep(definitionOf(name)))}${pointer}`
}

/** Reports declared properties that the table cannot have. */
export function checkDeclared({ use, report }: TableUse, description: ActionDescription): void {
  const { declared } = use
  const schemas = { ...use.schemas, ...description.schemas }
  const parts = [
    ['request', declared.request, description.request, 'is not writable'],
    ['parameters', declared.parameters, description.parameters, 'is not a parameter of this method'],
    ...Object.entries(declared.responses).map(
      ([status, schema]) => ['response', schema, description.responses?.[status], 'is not in "columns"'] as const,
    ),
  ] as const
  for (const [part, given, derived, message] of parts) {
    if (given === undefined || (derived === undefined && part === 'response')) continue
    const known = new Set(derived === undefined ? [] : collectProperties(derivedOf(derived), schemas))
    for (const name of collectProperties(given, schemas).filter((one) => !known.has(one)))
      report('', `"${name}" of the declared ${part} ${message}`, {
        hint: known.size === 0 ? 'Remove it' : `Remove it. Possible: ${[...known].join(', ')}`,
      })
  }
}

/** The part that `narrowSchema` added. */
function derivedOf(schema: JsonSchema): JsonSchema {
  const [first] = typeof schema === 'boolean' ? [] : ((schema['allOf'] ?? []) as readonly JsonSchema[])
  return first ?? schema
}

/** Returns the names of all properties that an object schema mentions. */
export function collectProperties(schema: JsonSchema, named: NamedSchemas): readonly string[] {
  const names = new Set<string>()
  const seen = new Set<unknown>()
  const visit = (one: unknown, root: JsonSchema): void => {
    if (typeof one !== 'object' || one === null || seen.has(one)) return
    seen.add(one)
    const level = one as Schema
    for (const name of Object.keys(level['properties'] ?? {})) names.add(name)
    for (const keyword of ['allOf', 'anyOf', 'oneOf', 'then', 'else'])
      for (const inner of [level[keyword]].flat()) visit(inner, root)
    for (const inner of Object.values((level['dependentSchemas'] ?? {}) as Schema)) visit(inner, root)
    if (typeof level['$ref'] === 'string') follow(level['$ref'], root)
  }
  const follow = (reference: string, root: JsonSchema): void => {
    const [target = '', pointer = ''] = reference.split('#')
    const name = decodeURIComponent(target.slice(prefix.length))
    const next = target === '' ? root : Object.hasOwn(named, name) ? named[name] : undefined
    if (next === undefined) return
    let found: unknown = next
    for (const step of pointer.split('/').slice(1)) {
      const key = unescapeStep(decodeURIComponent(step))
      found = (found as Schema | undefined)?.[key]
    }
    visit(found, next)
  }
  visit(schema, schema)
  return [...names]
}
