import { embedSchemas, type EmbedConfig } from './embed/embed-config.ts'

/** Values by column: a constant, `$now`, `$user.id` or `$params.NAME`. */
export type ValueMap = Readonly<Record<string, unknown>>

/** The config of an action of the class `sql-table`. */
export interface TableConfig {
  readonly connection?: string
  readonly table: string
  readonly key?: string | readonly string[]
  readonly columns: 'all' | readonly string[]
  readonly write?: readonly string[]
  readonly set?: ValueMap
  readonly set_on_update?: ValueMap
  readonly where?: ValueMap
  readonly delete?: ValueMap
  readonly owner?: string | { readonly column: string; readonly unless: string } | { readonly through: string }
  /** By column: the action whose rows it may refer to, or `any`. */
  readonly parents?: Readonly<Record<string, string>>
  readonly version?: string | { readonly column: string; readonly required?: boolean }
  readonly sort?: readonly string[]
  readonly sortable?: readonly string[]
  readonly filter?: readonly string[]
  /** Callers search lists for words in these columns. */
  readonly search?: readonly string[]
  /** Lists may be sorted and filtered by these columns without an index. */
  readonly unindexed?: readonly string[]
  readonly limit?: { readonly default?: number; readonly max?: number; readonly max_bytes?: number }
  readonly json?: Readonly<Record<string, JsonLimits>>
  /** Columns of PostgreSQL's type `numeric` whose values are texts with all digits. */
  readonly exact?: readonly string[]
  /** Rows of other tables, by the name of the property that has them. */
  readonly embed?: Readonly<Record<string, EmbedConfig>>
  readonly embed_always?: readonly string[]
  /** The name of the schema of rows. */
  readonly as?: string
  /** How many rows a POST can insert. */
  readonly bulk?: number
  /** The columns by which a POST finds the row that it changes, if it exists. */
  readonly upsert?: readonly string[]
  /** Lists are also sent as CSV. */
  readonly csv?: boolean
}

/** Limits of what callers write into a JSON column. */
export interface JsonLimits {
  readonly max_bytes?: number
  readonly max_depth?: number
  readonly max_values?: number
}

/** Reading, checking and writing as many values as these takes a few milliseconds. */
export const defaultJsonLimits = {
  max_bytes: 256 * 1024,
  max_depth: 32,
  max_values: 10_000,
} as const satisfies Required<JsonLimits>

/** How many bytes of rows a page of a list has at most, unless its first row alone has more. */
export const defaultPageBytes = 1024 * 1024

/** The schema of `JsonLimits`. */
export const jsonLimits = {
  type: 'object',
  properties: {
    max_bytes: {
      type: 'integer',
      description: 'The maximum size of the JSON text, in bytes',
      minimum: 2,
      maximum: 64 * 1024 * 1024,
      default: defaultJsonLimits.max_bytes,
    },
    max_depth: {
      type: 'integer',
      description: 'The maximum nesting of arrays and objects',
      minimum: 0,
      maximum: 100,
      default: defaultJsonLimits.max_depth,
    },
    max_values: {
      type: 'integer',
      description: 'The maximum number of values, including arrays and objects',
      minimum: 1,
      maximum: 1_000_000,
      default: defaultJsonLimits.max_values,
    },
  },
  additionalProperties: false,
}

const column = { type: 'string', minLength: 1, 'x-waypost': 'column' }
const columns = { type: 'array', items: column, uniqueItems: true }
const filters = { ...columns, items: { ...column, 'x-waypost': 'filter' } }
const sort = {
  type: 'array',
  items: { type: 'string', pattern: '^-?[^-]', 'x-waypost': 'sort' },
  uniqueItems: true,
  minItems: 1,
}
const values = { type: 'object', propertyNames: { 'x-waypost': 'column' }, minProperties: 1 }

/** The highest number of rows that a list may be configured to return, and a POST to insert. */
const maxLimit = 1000

export const tableConfigSchema = {
  type: 'object',
  required: ['table', 'columns'],
  properties: {
    connection: {
      type: 'string',
      description: 'The connection with the table',
      default: 'System',
      minLength: 1,
      'x-waypost': 'connection',
    },
    table: { type: 'string', description: 'The table or view', minLength: 1, 'x-waypost': 'table' },
    key: {
      description: 'The columns that identify a row of a view',
      anyOf: [column, { ...columns, minItems: 1 }],
    },
    columns: {
      description: 'The columns in responses, or "all"',
      anyOf: [{ const: 'all' }, { ...columns, minItems: 1 }],
    },
    write: {
      ...columns,
      description:
        'The columns that callers can write; by default those in "columns" without the key, owner, version and computed columns, and without those in "set", "where" and "delete"',
    },
    set: {
      ...values,
      description: 'Values of columns in new rows: a constant, $now, $user.id or $params.NAME',
    },
    set_on_update: {
      ...values,
      description: 'Values of columns in changed rows: a constant, $now, $user.id or $params.NAME',
    },
    where: {
      ...values,
      description: 'The API serves only rows with these values: a constant, null, $user.id or $params.NAME',
    },
    delete: { ...values, description: 'The values that mark a row as deleted; by default the row is removed' },
    owner: {
      description: 'The column with the id of the user to whom the row belongs',
      anyOf: [
        column,
        {
          title: 'Column and exception',
          type: 'object',
          required: ['column', 'unless'],
          properties: {
            column,
            unless: {
              type: 'string',
              description: 'Callers with this scope have access to the rows of all users',
              minLength: 1,
              'x-waypost': 'scope',
            },
          },
          additionalProperties: false,
        },
        {
          title: 'Through a reference',
          type: 'object',
          required: ['through'],
          properties: {
            through: {
              ...column,
              description: 'The row belongs to the owner of the row that this column refers to',
            },
          },
          additionalProperties: false,
        },
      ],
    },
    parents: {
      type: 'object',
      description:
        'Which rows a column may refer to: those of an action with "owner", or "any". By default those that the caller has access to',
      propertyNames: { 'x-waypost': 'column' },
      minProperties: 1,
      additionalProperties: { anyOf: [{ const: 'any' }, { type: 'string', minLength: 1, 'x-waypost': 'action' }] },
    },
    version: {
      description: 'The integer column that counts the changes of a row, for ETag and If-Match',
      anyOf: [
        column,
        {
          title: 'Column and options',
          type: 'object',
          required: ['column'],
          properties: {
            column,
            required: { type: 'boolean', description: 'Whether changes require If-Match', default: false },
          },
          additionalProperties: false,
        },
      ],
    },
    sort: { ...sort, description: 'The order of lists; a leading "-" means descending' },
    sortable: { ...columns, description: 'The columns that the query parameter "sort" accepts' },
    filter: {
      ...filters,
      description:
        'The columns that callers can filter by, including those of an embedded row: NAME.COLUMN. Default: the key and the first columns of indexes',
    },
    search: {
      ...columns,
      description: 'The columns in which the query parameter "q" finds words; needs the migration step add_search',
      minItems: 1,
      maxItems: 4,
    },
    unindexed: {
      ...filters,
      description: 'The columns by which lists are sorted or filtered without an index, for tables that stay small',
    },
    limit: {
      type: 'object',
      description: 'The number of rows in a list',
      properties: {
        default: { type: 'integer', description: 'By default 16, or the maximum', minimum: 1, maximum: maxLimit },
        max: { type: 'integer', minimum: 1, maximum: maxLimit, default: 100 },
        max_bytes: {
          type: 'integer',
          description: 'The bytes of rows after which a page ends, even if more rows were requested',
          minimum: 1024,
          maximum: 64 * 1024 * 1024,
          default: defaultPageBytes,
        },
      },
      additionalProperties: false,
    },
    bulk: {
      type: 'integer',
      description: 'The maximum number of rows that a POST can insert at once, as a list. All are inserted, or none',
      minimum: 2,
      maximum: maxLimit,
    },
    upsert: {
      ...columns,
      description:
        'The columns by which a POST finds an existing row, which it changes. With the column of the owner, they must be unique',
      minItems: 1,
    },
    csv: {
      type: 'boolean',
      description: 'Whether lists are also sent as CSV, to callers with Accept: text/csv',
      default: false,
    },
    exact: {
      ...columns,
      description:
        'The numeric columns of PostgreSQL whose values are sent as strings with all digits; otherwise they are numbers, which lose digits',
    },
    json: {
      ...values,
      description: 'Limits for the values that callers write to JSON columns, by column',
      additionalProperties: jsonLimits,
    },
    ...embedSchemas,
    as: {
      type: 'string',
      description: 'The name of the schema of rows, for types, /openapi.json and generated clients, for example Order',
      pattern: '^[A-Za-z_][A-Za-z0-9_]{0,62}$',
    },
  },
  additionalProperties: false,
}
