const mark = /^(?:\/\* scan \*\/ )?\/\* at most (\d+) bytes \*\//

/**
 * Returns how many bytes of rows a query may return. A query limits them by a comment at its beginning, after that of a
 * scan: what is read on demand of a caller must not fill the memory.
 */
export function readMaxBytes(sql: string): number | undefined {
  const [, bytes] = (sql.startsWith('/*') && mark.exec(sql)) || []
  return bytes === undefined ? undefined : Number(bytes)
}

/** Set on the rows of a query that would have returned more. A symbol, because Kysely passes on nothing but the rows. */
export const cutOff = Symbol.for('waypost.rows-cut-off')

/** Set on rows so large that what is done with them should not happen in the same turn of the event loop. */
const large = Symbol.for('waypost.rows-large')
const largeBytes = 256 * 1024
/** How often a byte of JSON that is parsed counts: it takes several times as long to read, check and write as one of text. */
export const jsonWeight = 4

/** Counts the bytes of rows. The first row always counts as small enough, so that a list can go on after each row. */
export class RowBytes {
  readonly #max: number
  #bytes = 0
  #isFirst = true

  constructor(max: number) {
    this.#max = max
  }

  /** @returns whether the row still belongs to the result */
  add(bytes: number): boolean {
    this.#bytes += bytes
    const isWithin = this.#isFirst || this.#bytes <= this.#max
    this.#isFirst = false
    return isWithin
  }

  /** Marks rows that are large. */
  mark(rows: readonly unknown[]): void {
    if (this.#bytes > largeBytes) Object.defineProperty(rows, large, { value: true })
  }
}

/** Marks rows as incomplete. */
export function markCutOff<Row>(rows: readonly Row[]): readonly Row[] {
  return Object.defineProperty(rows, cutOff, { value: true })
}
