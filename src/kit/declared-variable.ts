/** What `env:` in waypost.yml says of a variable. */
export interface DeclaredVariable {
  readonly type: VariableType
  readonly description?: string
  readonly default?: VariableValue
  /** Logs leave its value out. */
  readonly secret?: true
}

export const variableTypes = ['string', 'integer', 'boolean'] as const

export type VariableType = (typeof variableTypes)[number]
export type VariableValue = string | number | boolean

/** The value that a text of the environment has as a type; undefined if it has none. */
export function parseVariable(text: string, type: VariableType): VariableValue | undefined {
  if (type === 'string') return text
  if (type === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : undefined
  const number = Number(text)
  return /^-?(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(number) ? number : undefined
}

/** Whether a value of YAML or JSON is of a type. */
export function isOfType(value: unknown, type: VariableType): boolean {
  return type === 'integer' ? Number.isSafeInteger(value) : typeof value === type
}

/** How a message calls a type. */
export function describeType(type: VariableType): string {
  return { string: 'a string', integer: 'an integer', boolean: 'true or false' }[type]
}

/** How a message calls what a variable must be and the text that it is; a secret one is not repeated. */
export function describeMismatch({ type, secret }: Pick<DeclaredVariable, 'type' | 'secret'>, text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 59)}…` : text
  return secret ? describeType(type) : `${describeType(type)}, not "${short}"`
}
