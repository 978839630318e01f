/** Rows of another table in the rows of an action: one that a column refers to, or those that refer to the row. */
export interface EmbedConfig {
  /** The action whose rows and rules these are. Only a row without an owner rule needs none. */
  readonly from?: string
  /** The column of this table that refers to the row, or the column of the other table that refers to this one. */
  readonly by: string
  /** Whether they are several rows, where the column may mean both: a table that refers to itself. */
  readonly many?: boolean
  readonly columns?: readonly string[]
  readonly sort?: readonly string[]
  readonly limit?: number
  /** Whether a POST of this table can insert rows of the other one that refer to it. */
  readonly write?: boolean
}

/** The highest number of names in `embed`. */
export const maxEmbeds = 5
/** The highest number of embedded rows in a response: those of a list times the limits of what it embeds. */
export const maxEmbeddedRows = 5000
/** The default number of rows that refer to one row. */
export const defaultEmbedLimit = 16

const text = { type: 'string', minLength: 1 }
const other = { ...text, 'x-waypost-other': 'column' }
/** Names are properties of rows and are listed in the query, so they have neither commas nor dots. */
export const embedName = { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,62}$' }

const embedEntry = {
  type: 'object',
  required: ['by'],
  properties: {
    from: {
      ...text,
      'x-waypost': 'action',
      description: 'The action whose rows are embedded, with its columns and its rules',
    },
    by: {
      ...text,
      'x-waypost-other': 'either',
      description:
        'The column of this table that refers to the row, or the column of the other one that refers to this',
    },
    many: {
      type: 'boolean',
      description: 'Whether several rows are embedded. Only needed if the table refers to itself',
    },
    columns: {
      type: 'array',
      items: other,
      uniqueItems: true,
      minItems: 1,
      description: 'The columns of embedded rows; by default those of the action',
    },
    sort: {
      type: 'array',
      items: { type: 'string', pattern: '^-?[^-]', 'x-waypost-other': 'sort' },
      uniqueItems: true,
      minItems: 1,
      description: 'The order of several rows; by default that of the action',
    },
    write: {
      type: 'boolean',
      description: 'Whether a POST can insert the rows together with the one that they refer to',
      default: false,
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      description: 'The highest number of rows that refer to one row; by default that of the action',
    },
  },
  additionalProperties: false,
}

/** The keys of the config of `sql-table` that are about embedded rows. */
export const embedSchemas = {
  embed: {
    type: 'object',
    description: 'Rows of other tables that callers can request with each row, by name, with ?embed=NAME',
    propertyNames: embedName,
    minProperties: 1,
    maxProperties: maxEmbeds,
    additionalProperties: embedEntry,
  },
  embed_always: {
    type: 'array',
    description: 'The embedded rows that are part of every response',
    items: embedName,
    uniqueItems: true,
  },
}
