import type { ColumnSnapshot, ColumnType, JsonSchema } from '../../contract/index.ts'

const schemas: Readonly<Record<ColumnType, Readonly<Record<string, unknown>>>> = {
  id: { type: 'integer' },
  integer: { type: 'integer' },
  bigint: { type: ['integer', 'string'] },
  number: { type: 'number' },
  text: { type: 'string' },
  boolean: { type: 'boolean' },
  timestamp: { type: 'string', format: 'date-time' },
  date: { type: 'string', format: 'date' },
  json: {},
  uuid: { type: 'string', format: 'uuid' },
  enum: { type: 'string' },
  numeric: { type: 'string', format: 'decimal' },
  array: { type: 'array' },
  bytes: { type: 'string', format: 'byte' },
  literal: { type: 'string' },
  other: {},
}

/** Returns the schema of a column's values, as a person would write it. */
export function describeColumn({ type, length, values, null: isNullable }: ColumnSnapshot): JsonSchema {
  const { type: name, ...schema } = schemas[type]
  if (name === undefined) return {}
  return {
    type: isNullable === true ? [name, 'null'].flat() : name,
    ...schema,
    ...(values !== undefined && { enum: isNullable === true ? [...values, null] : values }),
    ...(type === 'text' && length !== undefined && { maxLength: length }),
  }
}

/** Whether a new row needs a value of a column that the database does not fill in. */
export function needsValue({ type, null: isNullable, default: hasDefault, generated }: ColumnSnapshot): boolean {
  return type !== 'id' && isNullable !== true && hasDefault !== true && generated !== true
}
