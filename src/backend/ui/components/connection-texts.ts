import { countOf } from './format.ts'

export const connectionsTexts = {
  text: 'System and the connections of the definition. Secrets are hidden.',
  test: 'Test',
  testOf: (name: string) => `Test ${name}`,
  ok: (ms: string) => `Works, ${ms}`,
  failed: 'Does not work',
  system: 'The database of Waypost, and by default of the application. WAYPOST_SYSTEM_URL configures it.',
  migrations: (amount: number) => countOf(amount, 'migration'),
  noConfig: 'No config',
} as const

export const connectionTexts = {
  new: 'New connection',
  notFound: 'waypost.yml has no connection with this name.',
  nameText: 'Letters, digits and . _ -, such as Shop',
  class: 'Class',
  edit: 'Edit',
  editOf: (name: string) => `Edit ${name}`,
  saveToTest: 'Save to test the connection.',
  readOnly: 'Connections are edited in waypost dev, or in the draft of a server.',
} as const
