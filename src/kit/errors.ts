/**
 * Who has to act: `user` errors are fixed by the user, `external` errors come from another system, `bug` is an error of
 * Waypost or of the project's code.
 */
export type ErrorKind = 'user' | 'external' | 'bug'

/** One row of a room's error table. `{name}` in message and hint is replaced with a parameter. */
export interface ErrorRow {
  readonly kind: ErrorKind
  /** HTTP status of the response. Commands always exit with 1. */
  readonly status: number
  readonly message: string
  readonly hint?: string
}

/** An error of Waypost. It says what happened, where, and what to do next. */
export class WaypostError extends Error {
  readonly code: string
  readonly kind: ErrorKind
  readonly status: number
  readonly hint: string | undefined
  /** A short form of the message that fits on one line of a terminal. Defaults to the message. */
  readonly brief: string
  /** Seconds after which the caller may retry. Sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** Additional headers of the response. */
  readonly headers: Readonly<Record<string, string>>

  constructor(code: string, row: Omit<ErrorRow, 'hint'> & { hint?: string | undefined }, options: ErrorDetails = {}) {
    super(row.message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'WaypostError'
    this.code = code
    this.kind = row.kind
    this.status = row.status
    this.hint = row.hint
    this.brief = options.brief ?? row.message
    this.retryAfterSeconds = options.retryAfterSeconds
    this.headers = options.headers ?? {}
  }

  /** The status under the name that Fastify uses, for error handlers of plugins. */
  get statusCode(): number {
    return this.status
  }
}

export interface ErrorDetails {
  readonly cause?: unknown
  readonly brief?: string
  readonly retryAfterSeconds?: number
  readonly headers?: Readonly<Record<string, string>>
}

type Placeholders<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholders<Rest> : never
type Parameters<Row> = Row extends { message: infer M }
  ? Placeholders<M> | (Row extends { hint: infer H } ? Placeholders<H> : never)
  : never
type ErrorFactory<Row> = [Parameters<Row>] extends [never]
  ? (parameters?: Record<string, never>, details?: ErrorDetails) => WaypostError
  : (parameters: Readonly<Record<Parameters<Row>, string | number>>, details?: ErrorDetails) => WaypostError

/**
 * Turns a room's error table into one factory per code, so that code, status and message are defined in one place.
 *
 * `throw errors.WP_STORE_BUSY({ seconds: 5 }, { cause })`
 */
export function defineErrors<const Table extends Record<`WP_${string}`, ErrorRow>>(
  table: Table,
): { readonly [Code in keyof Table]: ErrorFactory<Table[Code]> } & { readonly table: Table } {
  const factories: Record<string, unknown> = { table }
  for (const [code, row] of Object.entries(table)) {
    factories[code] = (parameters: Record<string, string | number> = {}, details: ErrorDetails = {}) =>
      new WaypostError(
        code,
        {
          ...row,
          message: fillPlaceholders(row.message, parameters),
          hint: row.hint && fillPlaceholders(row.hint, parameters),
        },
        details,
      )
  }
  return factories as never
}

/** Replaces `{name}` placeholders with parameters. Placeholders without a value stay unchanged. */
export function fillPlaceholders(text: string, parameters: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(parameters[name] ?? whole))
}

/** Whether a value is a WaypostError, including one from another loaded copy of this module. */
export function isWaypostError(value: unknown): value is WaypostError {
  return value instanceof Error && value.name === 'WaypostError' && 'code' in value && 'kind' in value
}

/** Returns the message of a thrown value, with the cause of one of `fetch`, which only says that it failed. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  return message === 'fetch failed' && cause !== undefined ? `${message}: ${describeCause(cause)}` : message
}

/** An AggregateError, with one error per address of a host, has a code but no message. */
function describeCause(cause: unknown): string {
  const { code } = cause as { readonly code?: unknown }
  return messageOf(cause) || (typeof code === 'string' ? code : 'unknown cause')
}
