export const schemasTexts = {
  text: 'Named schemas, which methods, events and other schemas use.',
  name: 'Schema',
  type: 'Type',
  empty: 'No schemas',
  emptyText: 'Schemas that are declared under schema: in waypost.yml appear here.',
  title: 'Schema',
  properties: 'Properties',
  unused: 'No method, event or schema uses it.',
  notFound: 'The active release has no schema with this name.',
} as const

export const schemaTexts = {
  new: 'New schema',
  notFound: 'waypost.yml has no schema with this name.',
  nameText: 'Letters, digits and . _ -, such as Todo or Todo-Input',
} as const
