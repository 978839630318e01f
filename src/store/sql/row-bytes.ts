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
}

/** Marks rows as incomplete. */
export function markCutOff<Row>(rows: readonly Row[]): readonly Row[] {
  return Object.defineProperty(rows, cutOff, { value: true })
}
