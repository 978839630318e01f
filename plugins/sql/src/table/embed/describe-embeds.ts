import type { JsonSchema } from 'waypost'
import type { EmbedPlan } from '../plan.ts'

/** An embed as a method describes it. */
export interface ResolvedEmbed {
  readonly plan: EmbedPlan
  /** The schema of an embedded row. */
  readonly row: JsonSchema
}

type ObjectSchema = Exclude<JsonSchema, boolean>

/** Returns the schema of a row with the rows that it can contain. */
export function withEmbedded(row: JsonSchema, embeds: readonly ResolvedEmbed[]): JsonSchema {
  if (embeds.length === 0) return row
  const { properties, required } = row as { readonly properties: object; readonly required: readonly string[] }
  const always = embeds.filter(({ plan }) => plan.always)
  return {
    ...(row as ObjectSchema),
    required: [...required, ...always.map(({ plan }) => plan.name)],
    properties: {
      ...properties,
      ...Object.fromEntries(embeds.map((embed) => [embed.plan.name, describeEmbedded(embed)])),
    },
  }
}

function describeEmbedded({ plan: { many }, row }: ResolvedEmbed): JsonSchema {
  if (many === undefined)
    return { anyOf: [row, { type: 'null' }], description: 'Null if there is none, or none that you may read' }
  return {
    type: 'object',
    required: ['entry', 'more'],
    properties: {
      entry: { type: 'array', items: row, maxItems: many.limit },
      more: { type: 'boolean', description: 'Whether there are further rows' },
    },
  }
}

/** Returns the query parameter that chooses embedded rows; none if all rows have them in any case. */
export function describeEmbedParameter(embeds: readonly ResolvedEmbed[]): Readonly<Record<string, JsonSchema>> {
  const names = embeds.flatMap(({ plan }) => (plan.always ? [] : [plan.name]))
  if (names.length === 0) return {}
  const limits = embeds.flatMap(({ plan: { name, scopes, always } }) => {
    if (always || scopes === undefined) return []
    const needs =
      scopes.length === 0 ? 'an access token' : `the scope ${scopes.map((one) => `\`${one}\``).join(' or ')}`
    return [`\`${name}\` needs ${needs}.`]
  })
  return {
    embed: {
      type: 'array',
      items: { enum: names },
      minItems: 1,
      'x-explode': false, // names are separated by commas, and may be repeated
      description: ['Rows of other tables that each row contains, separated by commas.', ...limits].join(' '),
    },
  }
}

/** Adds the parameter to those of a method. */
export function withEmbedParameter(
  parameters: JsonSchema | undefined,
  embeds: readonly ResolvedEmbed[],
): JsonSchema | undefined {
  const added = describeEmbedParameter(embeds)
  if (Object.keys(added).length === 0) return parameters
  if (parameters === undefined) return { type: 'object', properties: added }
  const { properties = {}, ...rest } = parameters as ObjectSchema
  return { ...rest, properties: { ...(properties as object), ...added } }
}
