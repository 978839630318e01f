/** A variable declared under `env:` in waypost.yml. */
export interface DeclaredVariable {
  readonly type: VariableType
  readonly description?: string
  readonly default?: VariableValue
  /** Logs omit the value. */
  readonly secret?: true
}

export const variableTypes = ['string', 'integer', 'boolean'] as const

export type VariableType = (typeof variableTypes)[number]
export type VariableValue = string | number | boolean

/** Parses the text of an environment variable as a type. Returns undefined if it is invalid. */
export function parseVariable(text: string, type: VariableType): VariableValue | undefined {
  if (type === 'string') return text
  if (type === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : undefined
  const number = Number(text)
  return /^-?(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(number) ? number : undefined
}

/** Whether a value from YAML or JSON has a type. */
export function isOfType(value: unknown, type: VariableType): boolean {
  return type === 'integer' ? Number.isSafeInteger(value) : typeof value === type
}

/** Names a type in messages. */
export function describeType(type: VariableType): string {
  return { string: 'a string', integer: 'an integer', boolean: 'true or false' }[type]
}

/** Describes the expected type and the actual text in messages. Omits the text of a secret variable. */
export function describeMismatch({ type, secret }: Pick<DeclaredVariable, 'type' | 'secret'>, text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 59)}…` : text
  return secret ? describeType(type) : `${describeType(type)}, not "${short}"`
}
