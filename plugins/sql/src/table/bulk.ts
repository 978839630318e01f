import type { JsonSchema } from 'waypost'
import type { UpsertPlan } from './plan.ts'
import type { TableUse } from './table-use.ts'
import type { Writing } from './writing.ts'

/** Checks `bulk`. @returns how many rows a request of the method can insert; undefined if it inserts one */
export function resolveBulk({ config, operation, use, report }: TableUse, { write }: Writing): number | undefined {
  const { bulk } = config
  if (bulk === undefined || operation !== 'insert') return undefined
  if (write.length === 0)
    report('/bulk', 'Rows of a request would all be the same, because callers cannot write any column', {
      hint: 'List columns in "write", or remove "bulk"',
    })
  if (Object.keys(use.declared.responses).some((status) => status.startsWith('2')))
    report('/bulk', `${use.method} ${use.path} declares its response, which does not describe several rows`, {
      hint: 'Remove the declared response, or "bulk"',
    })
  return bulk
}

/** Returns the schema of one value, or of a list of them. */
export function allowSeveral(
  one: JsonSchema,
  list: { readonly items?: JsonSchema; readonly [limit: string]: unknown } = {},
): JsonSchema {
  const { $defs, definitions, ...schema } = withoutBoolean(one)
  const { $defs: _, definitions: _others, ...items } = withoutBoolean(list.items ?? one) // the same
  return {
    anyOf: [schema, { ...list, type: 'array', items }],
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  }
}

function withoutBoolean(schema: JsonSchema): Exclude<JsonSchema, boolean> {
  return typeof schema === 'boolean' ? {} : schema
}

/** Adds the responses for several rows, and for a row that existed. */
export function describeWritten(
  responses: Record<string, JsonSchema>,
  { bulk, upsert }: { readonly bulk: number | undefined; readonly upsert: UpsertPlan | undefined },
): Record<string, JsonSchema> {
  const row = responses[201]
  if (row === undefined) return responses
  const rows = bulk === undefined ? row : allowSeveral(row)
  return upsert === undefined ? { ...responses, 201: rows } : { ...responses, 200: rows, 201: row }
}
