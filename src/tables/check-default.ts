import { isUuid } from '../kit/index.ts'
import { storeDecimal } from './column-checks.ts'
import type { ColumnDeclaration } from './steps.ts'

/** What the default of a column of a type must be, and whether a value is that. */
type Rule = readonly [expected: string, isValid: (value: unknown) => boolean]

const limit = 2 ** 31

const rules: Readonly<Record<Exclude<ColumnDeclaration['type'], 'enum' | 'numeric'>, Rule>> = {
  id: ['omitted, because the database generates the values', () => false],
  integer: [
    'an integer of 32 bits',
    (value) => Number.isInteger(value) && Number(value) >= -limit && Number(value) < limit,
  ],
  bigint: ['an integer between -2^53 and 2^53', Number.isSafeInteger],
  number: ['a number', Number.isFinite],
  boolean: ['true or false', (value) => typeof value === 'boolean'],
  text: ['a string', (value) => typeof value === 'string' && !value.includes('\0')],
  timestamp: [
    'now, or a time in UTC such as 2027-01-31T12:00:00.000Z',
    (value) => value === 'now' || (typeof value === 'string' && isTime(value)),
  ],
  date: [
    'a date such as 2027-01-31',
    (value) => typeof value === 'string' && value.length === 10 && isTime(`${value}T00:00:00.000Z`),
  ],
  uuid: ['a UUID in lower case', (value) => typeof value === 'string' && isUuid(value)],
  json: ['JSON without the character U+0000', (value) => !JSON.stringify(value).includes('\\u0000')],
}

/** Returns what the default of a column must be instead; undefined if it is valid. */
export function checkDefault(column: ColumnDeclaration): string | undefined {
  const { type, length = Infinity, values, precision, scale = 0, default: value } = column
  if (type === 'enum')
    return values === undefined || values.includes(value as string) ? undefined : `one of ${values.join(', ')}`
  if (type === 'numeric') {
    const digits = precision === undefined ? '' : `at most ${precision} digits, `
    return storeDecimal(value, column) === undefined
      ? `a decimal with ${digits}${scale} of them after the point`
      : undefined
  }
  const [expected, isValid] = rules[type]
  if (!isValid(value)) return expected
  return type === 'text' && Array.from(value as string).length > length
    ? `at most ${length} characters long`
    : undefined
}

function isTime(text: string): boolean {
  const time = new Date(text)
  return text.length === 24 && !Number.isNaN(time.getTime()) && time.toISOString() === text
}
