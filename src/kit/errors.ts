/** Whose fault an error is: `user` must change something, `external` is another system that failed, `bug` is ours. */
export type ErrorKind = 'user' | 'external' | 'bug'

/** One row of a room's table of errors. `{name}` in message and hint is filled from the parameters. */
export interface ErrorRow {
  readonly kind: ErrorKind
  /** HTTP status that a caller sees; commands exit with 1 whatever it is. */
  readonly status: number
  readonly message: string
  readonly hint?: string
}

/** An error of Waypost: says what happened, where, and what to do next. */
export class WaypostError extends Error {
  readonly code: string
  readonly kind: ErrorKind
  readonly status: number
  readonly hint: string | undefined
  /** The message in the few words that a line of the console has place for; often the message itself. */
  readonly brief: string
  /** Seconds after which a caller may try again; becomes `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** Headers of the answer, beside those that the status implies. */
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
type Maker<Row> = [Parameters<Row>] extends [never]
  ? (parameters?: Record<string, never>, details?: ErrorDetails) => WaypostError
  : (parameters: Readonly<Record<Parameters<Row>, string | number>>, details?: ErrorDetails) => WaypostError

/**
 * Turns a room's table of errors into one maker per code, so that a code, its status and its words stand in one place.
 *
 * `throw errors.WP_STORE_BUSY({ seconds: 5 }, { cause })`
 */
export function defineErrors<const Table extends Record<`WP_${string}`, ErrorRow>>(
  table: Table,
): { readonly [Code in keyof Table]: Maker<Table[Code]> } & { readonly table: Table } {
  const makers: Record<string, unknown> = { table }
  for (const [code, row] of Object.entries(table)) {
    makers[code] = (parameters: Record<string, string | number> = {}, details: ErrorDetails = {}) =>
      new WaypostError(
        code,
        { ...row, message: fill(row.message, parameters), hint: row.hint && fill(row.hint, parameters) },
        details,
      )
  }
  return makers as never
}

/** Fills `{name}` placeholders from the parameters; one that has no value stays as it is. */
export function fill(text: string, parameters: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(parameters[name] ?? whole))
}

/** Whether a value is a WaypostError, also one of another loaded copy of this module. */
export function isWaypostError(value: unknown): value is WaypostError {
  return value instanceof Error && value.name === 'WaypostError' && 'code' in value && 'kind' in value
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
