import { flattenRows, readRows, type Row } from '../../src/backend/ui/edit/schema-rows.ts'

export const order = {
  type: 'object',
  required: ['id', 'lines'],
  properties: {
    id: { type: 'integer', minimum: 1 },
    buyer: { anyOf: [{ $ref: 'schema:///User' }, { type: 'null' }], description: 'Who pays' },
    address: { type: ['object', 'null'], properties: { city: { type: 'string' } } },
    lines: {
      type: 'array',
      minItems: 1,
      items: { type: 'object', required: ['sku'], properties: { sku: { type: 'string', format: 'uuid' } } },
    },
    payment: { oneOf: [{ $ref: 'schema:///Card' }, { $ref: 'schema:///Transfer' }] },
  },
}

export function rowOf(schema: unknown, name: string): Row {
  return flattenRows(readRows(schema)).find((row) => row.name === name)!
}

/** A row as text: its depth, name and types. */
export function describeRow({ id, role, name, isRequired, types }: Row): string {
  const type = types.map((part) => `${part.kind}${part.name ? ` ${part.name}` : ''}${part.isNullable ? '?' : ''}`)
  return `${'  '.repeat(id.split('.').length - 1)}${name || role}${isRequired ? '!' : ''}: ${type.join(' of ')}`
}
