import type { JsonSchema } from 'waypost'
import type { EmbedFilter, EmbedPlan } from '../plan.ts'
import { maxEmbeddedRows } from './embed-config.ts'
import { describePlain, describeValues, type Columns } from '../schemas.ts'

/** An embed as a method describes it. */
export interface ResolvedEmbed {
  readonly plan: EmbedPlan
  /** The schema of an embedded row. */
  readonly row: JsonSchema
  /** The columns of the other table, as callers see them. */
  readonly known: Columns
}

type ObjectSchema = Exclude<JsonSchema, boolean>

/** The schema of the rows of an action, and the named schema that it refers to. */
export interface RowSchema {
  readonly row: JsonSchema
  readonly schemas?: Readonly<Record<string, JsonSchema>>
}

/**
 * Returns the schema of a row with the rows that it can contain.
 * @param name that of the schema, which is then the same for all methods
 */
export function describeRowSchema(
  row: JsonSchema,
  embeds: readonly ResolvedEmbed[],
  { name, isReading }: { readonly name: string | undefined; readonly isReading: boolean },
): RowSchema {
  const always = isReading ? embeds.filter(({ plan }) => plan.always) : []
  if (name === undefined) return { row: isReading ? withEmbedded(row, embeds, always) : row }
  const schemas = { [name]: withEmbedded(row, embeds, []) }
  const reference = { $ref: referTo(name) }
  return { row: always.length === 0 ? reference : { allOf: [reference], ...requireEmbedded(always) }, schemas }
}

/** Returns the reference to a named schema. */
export function referTo(name: string): string {
  return `schema:///${encodeURIComponent(name)}`
}

function requireEmbedded(always: readonly ResolvedEmbed[]): ObjectSchema {
  return {
    type: 'object',
    required: always.map(({ plan }) => plan.name),
    properties: Object.fromEntries(always.map((embed) => [embed.plan.name, describeEmbedded(embed)])),
  }
}

function withEmbedded(row: JsonSchema, embeds: readonly ResolvedEmbed[], always: readonly ResolvedEmbed[]): JsonSchema {
  if (embeds.length === 0) return row
  const { properties, required } = row as { readonly properties: object; readonly required: readonly string[] }
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
  if (many === undefined) {
    const description = 'Null if there is none, or none that you may read'
    const { $ref: reference, ...own } = row as ObjectSchema
    // A serializer needs no validation to choose the type.
    if (reference === undefined) return { ...own, type: ['object', 'null'], description }
    return { anyOf: [row, { type: 'null' }], description }
  }
  return {
    type: 'object',
    required: ['entry', 'more'],
    properties: {
      entry: { type: 'array', items: row, ...(!many.written && { maxItems: many.limit }) },
      more: { type: 'boolean', description: 'Whether there are more rows' },
    },
  }
}

/** Returns the query parameter that chooses embedded rows. */
function describeEmbedParameter(embeds: readonly ResolvedEmbed[]): Readonly<Record<string, JsonSchema>> {
  if (embeds.length === 0) return {}
  const limits = embeds.flatMap(({ plan: { name, scopes, always } }) => {
    if (always || scopes === undefined) return []
    const needs =
      scopes.length === 0 ? 'an access token' : `the scope ${scopes.map((one) => `\`${one}\``).join(' or ')}`
    return [`\`${name}\` needs ${needs}.`]
  })
  return {
    embed: {
      type: 'array',
      items: { enum: embeds.map(({ plan }) => plan.name) }, // also those that all rows have
      minItems: 1,
      explode: false, // names are separated by commas, and may be repeated
      description: ['Rows of other tables that each row contains, separated by commas.', ...limits].join(' '),
    },
  }
}

/** Describes how many rows are embedded in those of a list, so that a plan shows when that changes. */
export function describeEmbedLimits(embeds: readonly ResolvedEmbed[]): Readonly<Record<string, string>> {
  const limits = embeds.flatMap(({ plan: { name, many } }) => {
    if (many === undefined) return []
    const most = Math.floor(maxEmbeddedRows / many.limit)
    return [[`embed ${name}`, `A row has at most ${many.limit} rows of "${name}", for a "limit" of at most ${most}.`]]
  })
  return Object.fromEntries(limits) as Readonly<Record<string, string>>
}

/** Adds the parameters that are about embedded rows to those of a method. */
export function withEmbedParameters(
  parameters: JsonSchema | undefined,
  embeds: readonly ResolvedEmbed[],
  filters: readonly EmbedFilter[] = [],
): JsonSchema | undefined {
  const ofFilters = filters.map(({ embed, column }) => {
    const { known } = embeds.find(({ plan }) => plan.name === embed)!
    return [`${embed}.${column}`, describeValues(describePlain(known[column]!))] as const
  })
  const added = { ...describeEmbedParameter(embeds), ...Object.fromEntries(ofFilters) }
  if (Object.keys(added).length === 0) return parameters
  if (parameters === undefined) return { type: 'object', properties: added }
  const { properties = {}, ...rest } = parameters as ObjectSchema
  return { ...rest, properties: { ...(properties as object), ...added } }
}
