import type { ColumnSnapshot, JsonSchema } from 'waypost'
import type { TableConfig } from './config.ts'
import { nameFilter, toTyped, valueTypeOf, type FilterOperator, type ListPlan } from './plan.ts'
import { searchParameters } from './search/search-plan.ts'
import { maxSortTerms } from './sort.ts'
import { columnsForCallers, type TableUse } from './table-use.ts'
import type { Schema } from './value-rules.ts'
import { describeResponse, valueTypes } from './value-types.ts'
import type { Writing } from './writing.ts'

export type Columns = Readonly<Record<string, ColumnSnapshot>>

/** The highest number of values of one filter. */
const maxFilterValues = 100
export const maxContainsLength = 200
/** The highest number of characters of `any`. */
const maxAnyLength = 2000

/** Returns the schema of a column's value in the body of a request. */
export function describeInput(column: ColumnSnapshot): Schema {
  return allowNull(describePlain(column), column)
}

/** Returns the schema of a path parameter or query parameter that is compared with a column. */
export function describePlain(column: ColumnSnapshot): Schema {
  const typed = toTyped(column)
  return valueTypes[typed.type].request(typed)
}

function describeOutput(column: ColumnSnapshot): Schema {
  return allowNull(describeResponse(toTyped(column)), column)
}

/** Returns the schema of a row in responses. */
export function describeRow(columns: readonly string[], known: Columns): JsonSchema {
  return {
    type: 'object',
    required: columns,
    properties: Object.fromEntries(columns.map((name) => [name, describeOutput(known[name]!)])),
  }
}

function allowNull(schema: Schema, column: ColumnSnapshot): Schema {
  if (!column.null || !('type' in schema)) return schema
  const { enum: values } = schema as { readonly enum?: readonly unknown[] }
  return { ...schema, type: [schema['type'], 'null'].flat(), ...(values !== undefined && { enum: [...values, null] }) }
}

/** Returns the schema of a list's response. */
export function describeList(row: JsonSchema): JsonSchema {
  return {
    type: 'object',
    required: ['entry', 'next'],
    properties: {
      entry: { type: 'array', items: row },
      next: { type: ['string', 'null'], description: 'The value of "after" for the next page; null on the last page' },
      count: { type: 'integer', description: 'The number of rows on all pages, if requested with "count=true"' },
    },
  }
}

/** Returns the operators that callers can filter a column with. */
export function listOperators(column: ColumnSnapshot, isListed: boolean): readonly FilterOperator[] {
  const type = valueTypeOf(column)!
  const comparison = valueTypes[type].comparison(toTyped(column))
  const ofNull = column.null ? (['null'] as const) : []
  if (comparison === 'none') return ofNull
  if (type === 'text' && isListed) return ['eq', 'not', 'contains', ...ofNull]
  return comparison === 'ordered' ? ['eq', 'not', 'gt', 'gte', 'lt', 'lte', ...ofNull] : ['eq', 'not', ...ofNull]
}

/** Returns the schema of a list's query parameters. */
export function describeParameters({ filters, sortable, limit, any, search }: ListPlan, known: Columns): JsonSchema {
  const properties: Record<string, JsonSchema> = {}
  for (const [name, operators] of Object.entries(filters)) {
    for (const operator of operators) properties[nameFilter(name, operator)] = describeFilter(known[name]!, operator)
  }
  const sort = {
    type: 'string',
    minLength: 1,
    description: `Up to ${maxSortTerms} of these columns, separated by commas: ${sortable.join(', ')}. A leading "-" means descending.`,
  }
  const alternatives = {
    type: 'string',
    minLength: 1,
    maxLength: maxAnyLength,
    description:
      'Rows that one of several filters selects, for example `(NAME:VALUE,NAME.gte:VALUE)`. In a value, write a backslash before a comma, a parenthesis or a backslash.',
  }
  return {
    type: 'object',
    properties: {
      ...properties,
      ...(any && { any: alternatives }),
      ...(search && searchParameters),
      ...(sortable.length > 0 && { sort }),
      limit: { type: 'integer', minimum: 1, maximum: limit.max, default: limit.default },
      after: { type: 'string', minLength: 1, description: 'The value of "next" of the previous page' },
      count: { type: 'boolean', description: 'Also count the rows on all pages' },
    },
    additionalProperties: false,
  }
}

function describeFilter(column: ColumnSnapshot, operator: FilterOperator): JsonSchema {
  if (operator === 'null') return { type: 'boolean', description: 'Whether the value is null' }
  if (operator === 'contains') return { type: 'string', minLength: 1, maxLength: maxContainsLength }
  const one = describePlain(column)
  return operator === 'eq' || operator === 'not' ? describeValues(one) : one
}

/** Returns the schema of a filter with one or several values. */
export function describeValues(one: Schema): Schema {
  return { type: 'array', items: one, minItems: 1, maxItems: maxFilterValues }
}

/** Returns the names of query parameters of a list that are not filters. */
export function reservedNames({
  embed,
  filter,
  search,
}: Pick<TableConfig, 'embed' | 'filter' | 'search'>): readonly string[] {
  const used = [
    ...(embed === undefined ? [] : ['embed']),
    ...(filter === undefined ? [] : ['any']),
    ...(search === undefined ? [] : ['q', 'rank']),
  ]
  return ['sort', 'limit', 'after', 'count', ...used]
}

/** Schemas of bodies have no defaults, so that a change never writes a column that the caller did not send. */
export function describeRequest(tableUse: TableUse, { write }: Writing): JsonSchema | undefined {
  const { operation, table } = tableUse
  if (!['insert', 'replace', 'update'].includes(operation)) return undefined
  const columns = columnsForCallers(tableUse)
  const properties = Object.fromEntries(write.map((name) => [name, describeInput(columns[name]!)]))
  const required = write.filter((name) => {
    const { null: isNullable, default: hasDefault, type } = table.columns[name]!
    return operation === 'replace' || (!isNullable && !hasDefault && type !== 'id')
  })
  return {
    type: 'object',
    properties,
    ...(operation !== 'update' && required.length > 0 && { required }),
    ...(operation === 'update' && { minProperties: 1 }),
    additionalProperties: false,
  }
}
