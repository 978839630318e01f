import type { JsonSchema } from 'waypost'
import type { ChildrenPlan } from '../plan.ts'

/** The highest number of children of one name in a request. */
const maxChildren = 100

/** Children of a row as a method describes them. */
export interface ResolvedChildren {
  readonly plan: ChildrenPlan
  /** The schema of one of them in a request. */
  readonly request: JsonSchema
  /** The schema of one of them in a response. */
  readonly row: JsonSchema
}

type ObjectSchema = Exclude<JsonSchema, boolean>

/** Adds the children to the schema of a row in a request. */
export function withChildren(row: JsonSchema, children: readonly ResolvedChildren[]): JsonSchema {
  return addProperties(
    row,
    children.map(({ plan: { name, scopes }, request }) => {
      const needs = scopes === undefined ? '' : ` It needs ${describeScopes(scopes)}.`
      const description = `Rows that are inserted with this one.${needs}`
      return [name, { type: 'array', items: request, maxItems: maxChildren, description }]
    }),
  )
}

function describeScopes(scopes: readonly string[]): string {
  return scopes.length === 0 ? 'an access token' : `the scope ${scopes.map((one) => `\`${one}\``).join(' or ')}`
}

/** Adds the children to the response of a new row, as if they were embedded. */
export function withChildResponses(
  responses: Record<string, JsonSchema>,
  children: readonly ResolvedChildren[],
): Record<string, JsonSchema> {
  if (children.length === 0 || responses[201] === undefined) return responses
  const properties = children.map(({ plan: { name }, row }): readonly [string, JsonSchema] => [
    name,
    {
      type: 'object',
      required: ['entry', 'more'],
      properties: { entry: { type: 'array', items: row }, more: { type: 'boolean' } },
      description: 'The rows that were inserted with this one, if the request had any',
    },
  ])
  return { ...responses, 201: addProperties(responses[201], properties) }
}

function addProperties(schema: JsonSchema, added: readonly (readonly [string, JsonSchema])[]): JsonSchema {
  // A named schema has all that can be embedded.
  if (added.length === 0 || (schema as ObjectSchema)['$ref'] !== undefined) return schema
  const { properties = {}, ...others } = schema as ObjectSchema
  return { ...others, properties: { ...(properties as object), ...Object.fromEntries(added) } }
}
