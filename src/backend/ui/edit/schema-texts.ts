import { numbers } from '../components/format.ts'

export const columnsTexts = {
  name: 'Field',
  type: 'Type',
  limits: 'Limits',
  required: 'Required',
  nullable: 'Null',
  description: 'Description',
} as const

export const ofTexts = {
  name: (field: string) => `Name of ${field}`,
  type: (field: string) => `Type of ${field}`,
  items: (field: string) => `Type of the items of ${field}`,
  required: (field: string) => `${field} is required`,
  nullable: (field: string) => `${field} may be null`,
  description: (field: string) => `Description of ${field}`,
  limits: (field: string) => `Limits of ${field}`,
  actions: (field: string) => `Actions for ${field}`,
} as const

export const kindsTexts = {
  string: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  object: 'object',
  array: 'list of …',
  null: 'null',
  any: 'any value',
  const: 'fixed value',
  reference: 'schema',
  union: 'one of …',
  file: 'file',
  several: 'several types',
  other: 'other',
} as const

export const namesTexts = {
  empty: 'Enter a name',
  taken: (name: string) => `Duplicate field "${name}"`,
} as const

export const schemaEditorTexts = {
  fields: (name: string) => `Fields of ${name}`,
  self: (name: string) => `${name} itself`,
  other: 'other fields',
  variant: (index: number) => `Alternative ${index + 1}`,
  noType: 'Nothing found',
  add: 'Add field',
  addTo: (name: string) => `Add field to ${name}`,
  addVariant: 'Add alternative',
  addVariantTo: (name: string) => `Add alternative to ${name}`,
  moved: (name: string, place: number, of: number) => `${name} is number ${place} of ${of}`,
  movedInto: (name: string, object: string) => `${name} is now a field of ${object}`,
  removed: (name: string) => `${name} is removed`,
  keys: 'Enter adds a field. Alt+↑ and Alt+↓ move it, Alt+Shift+→ and ← change its level. Backspace removes a field without a name.',
  limitOf: (keyword: string, field: string) => `${keyword} of ${field}`,
  itemsNullable: 'Items may be null',
  noFormat: 'None',
  valuesHint: 'Enter after each value',
  noSize: 'A file needs a maximum size',
  invalidPattern: 'This is not a valid pattern',
  discriminator: 'Distinguished by',
  discriminatorHint: 'A field with a fixed value that is different in each alternative. It makes errors clearer.',
  more: 'More keywords',
  moreHint: 'Kept as they are. Change them on the YAML tab.',
  moreCount: (amount: number) => (amount === 1 ? '1 more keyword' : `${numbers.format(amount)} more keywords`),
  onlyKnown: 'no other fields',
  deprecated: 'deprecated',
  empty: 'No fields yet',
} as const
