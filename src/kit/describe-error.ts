import { isWaypostError, messageOf } from './errors.ts'

/**
 * Fields of errors that contain no values of rows, parameters or headers. Drivers and HTTP clients add others that do, such
 * as `detail`, `where`, `internalQuery`, `command`, `config` and `response`.
 */
const safeFields = [
  'code',
  'errcode',
  'errno',
  'syscall',
  'hostname',
  'address',
  'port',
  'status',
  'statusCode',
  'severity',
  'schema',
  'table',
  'column',
  'dataType',
  'constraint',
  'statement',
] as const
const maxCauses = 5

export interface DescribeOptions {
  /** Returns the stack to show; by default there is none. */
  stackOf?(stack: string | undefined): string | undefined
}

/** An error as a log shows it: what failed and where, without values of rows. */
export class ErrorDescription {
  readonly type: string
  readonly message: string
  declare readonly hint?: string
  declare readonly stack?: string
  declare readonly cause?: ErrorDescription
  declare readonly errors?: readonly ErrorDescription[];
  readonly [field: string]: unknown

  constructor(error: unknown, options: DescribeOptions = {}, depth = 0) {
    this.type = error instanceof Error ? error.name : typeof error
    this.message = safeMessageOf(error)
    if (!(error instanceof Error)) return
    const fields = error as Error & { readonly [field: string]: unknown }
    for (const name of safeFields) if (isPlain(fields[name])) this.#set(name, fields[name])
    const isWaypost = isWaypostError(error)
    if (isWaypost) this.#set('hint', error.hint)
    if (isWaypost && error.kind !== 'bug') {
      // Their stacks are only useful for bugs, and so are causes, except those of other systems.
      const isExternal = error.kind === 'external' && error.cause !== undefined && depth < maxCauses
      if (isExternal) this.#set('cause', new ErrorDescription(error.cause, {}, depth + 1))
      return
    }
    this.#set('stack', options.stackOf?.(error.stack?.replace(error.message, () => safeMessageOf(error))))
    if (depth >= maxCauses) return
    const describe = (inner: unknown) => new ErrorDescription(inner, options, depth + 1)
    if (error.cause !== undefined) this.#set('cause', describe(error.cause))
    if (error instanceof AggregateError) this.#set('errors', error.errors.slice(0, maxCauses).map(describe))
  }

  #set(name: string, value: unknown): void {
    if (value !== undefined) (this as Record<string, unknown>)[name] = value
  }
}

/** Returns the message of a thrown value for logs and for System: without the values that messages of databases quote. */
export function safeMessageOf(error: unknown): string {
  const {
    code,
    severity,
    message: own,
  } = Object(error) as { readonly code?: unknown; readonly severity?: unknown; readonly message?: unknown }
  if (typeof error === 'object' && error !== null && typeof own !== 'string') return 'an object was thrown'
  const message = error instanceof Error || typeof own !== 'string' ? messageOf(error) : own
  // PostgreSQL's class "data exception": `invalid input syntax for type integer: "VALUE"`, in the server's language
  const isDataError = severity !== undefined && typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code)
  if (isDataError) return message.replaceAll(/(["'»«„“”]).*["'»«„“”]/gs, '…').replace(/\s*[:：].*$/s, '')
  return message.replace(/(, with args beginning with:).*$/s, '$1 …') // Redis repeats the arguments of a command
}

function isPlain(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
