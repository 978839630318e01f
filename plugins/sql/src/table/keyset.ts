/** A column of an order, and its value in the last row of the previous page. */
export interface KeysetTerm {
  /** Quoted. */
  readonly name: string
  readonly descending: boolean
  readonly isNullable: boolean
  /** The placeholder of the value; undefined for null, which is the largest value. */
  readonly parameter: string | undefined
}

/** Whether the condition compares rows, which an index serves, unlike the equivalent conditions with "or". */
export function comparesRows(terms: readonly Pick<KeysetTerm, 'isNullable' | 'descending'>[]): boolean {
  return terms.every(({ isNullable, descending }) => !isNullable && descending === terms[0]!.descending)
}

/** Returns the condition for the rows after the last one of the previous page. */
export function writeKeyset(terms: readonly KeysetTerm[]): string {
  if (comparesRows(terms)) {
    const row = (parts: readonly unknown[]) => (parts.length === 1 ? String(parts[0]) : `(${parts.join(', ')})`)
    const operator = terms[0]!.descending ? '<' : '>'
    return `${row(terms.map(({ name }) => name))} ${operator} ${row(terms.map(({ parameter }) => parameter))}`
  }
  return terms.reduceRight((later, term) => {
    const further = writeFurther(term)
    if (later === '') return further
    const same = term.parameter === undefined ? `${term.name} is null` : `${term.name} = ${term.parameter}`
    return `(${further} or (${same} and ${later}))`
  }, '')
}

/** The rows that are further in one column. */
function writeFurther({ name, descending, isNullable, parameter }: KeysetTerm): string {
  if (parameter === undefined) return descending ? `${name} is not null` : '1 = 0'
  if (descending) return `${name} < ${parameter}`
  return isNullable ? `(${name} > ${parameter} or ${name} is null)` : `${name} > ${parameter}`
}
