import type { DatabaseKind } from 'waypost'
import { makeJsonWriter } from './json-column.ts'
import type { PlanColumn } from './plan.ts'
import { compareTime, storeTime } from './time-form.ts'

/** A value of a request that matches its schema and that no database can store. */
export class InvalidValue extends Error {}

/** Converts a value of a request for a statement. @throws InvalidValue */
export type Bind = (value: unknown) => unknown

/**
 * What a value is for: SQLite compares times as text, so all that are stored must have the same form. A limit that a form
 * cannot represent is compared as the last value before it, or the first one after it.
 */
export type BindUse = 'store' | 'compare' | 'floor' | 'ceil'

export interface BindOptions {
  readonly kind: DatabaseKind
  readonly use?: BindUse
}

/** Returns the conversion of a column's values. The values match the schema of the column. */
export function makeBind(name: string, column: PlanColumn, { kind, use = 'compare' }: BindOptions): Bind {
  const reject = (expected: string): never => {
    throw new InvalidValue(`"${name}" must be ${expected}`)
  }
  const hasMicroseconds = kind === 'postgresql' || use !== 'store' || column.form !== undefined
  const plain = makeValueBind(column, hasMicroseconds, reject)
  const bind = kind === 'postgresql' || column.type !== 'timestamp' ? plain : makeFormBind(column, plain, use)
  // Null in a JSON column that does not allow it is the JSON value null.
  return (value) => (value === null && (column.type !== 'json' || column.null) ? null : bind(value))
}

function makeFormBind({ form, written }: PlanColumn, plain: Bind, use: BindUse): Bind {
  if (form === undefined) return plain
  const stored = form === 'mixed' ? written! : form
  if (use === 'store') return (value) => storeTime(stored, plain(value) as string)
  return (value) => compareTime(form, plain(value) as string, use === 'compare' ? 'exact' : use)
}

function makeValueBind(
  { type, limits }: PlanColumn,
  hasMicroseconds: boolean,
  reject: (expected: string) => never,
): Bind {
  switch (type) {
    case 'timestamp':
      return (value) =>
        normalizeTime(String(value), hasMicroseconds) ?? reject('an existing time between the years 1 and 9999')
    case 'date':
      return (value) => (String(value) >= '0001' ? value : reject('a date between the years 1 and 9999'))
    case 'json': {
      const write = makeJsonWriter(limits)
      return (value) => {
        const written = write(value)
        return 'text' in written ? written.text : reject(written.expected)
      }
    }
    case 'uuid':
      return (value) => String(value).toLowerCase() // as PostgreSQL stores it; SQLite compares text
    case 'bigint':
      return (value) => toBigint(value) ?? reject('an integer of 64 bits')
    default:
      return (value) => value
  }
}

function toBigint(value: unknown): bigint | undefined {
  if (!/^-?\d{1,19}$/.test(String(value))) return undefined
  const integer = BigInt(value as number | string)
  return BigInt.asIntN(64, integer) === integer ? integer : undefined
}

/** Returns a time of RFC 3339 in UTC, as it is read: with milliseconds, and with microseconds if it has any. */
function normalizeTime(text: string, hasMicroseconds: boolean): string | undefined {
  const [, seconds, fraction = '', zone] = /^(.{19})(?:\.(\d+))?(.*)$/.exec(text) ?? []
  if (seconds === undefined || zone === undefined) return undefined
  const isLeapSecond = seconds.endsWith('60') // stored as the following second, as PostgreSQL does
  const time = new Date(`${isLeapSecond ? `${seconds.slice(0, -2)}59` : seconds}${zone}`)
  if (Number.isNaN(time.getTime())) return undefined
  if (isLeapSecond) time.setTime(time.getTime() + 1000)
  const utc = time.toISOString()
  if (utc.length !== 24 || utc < '0001') return undefined
  const digits = fraction.slice(0, 6).padEnd(6, '0')
  const isShort = !hasMicroseconds || digits.endsWith('000')
  return `${utc.slice(0, 19)}.${isShort ? digits.slice(0, 3) : digits}Z`
}

/** Binds a list as one parameter. */
export function bindList(values: readonly unknown[], kind: DatabaseKind): unknown {
  if (kind === 'postgresql') return { toPostgres: () => values }
  // JSON text, written so that integers beyond 2^53 keep their digits.
  return `[${values.map((value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))).join()}]`
}
