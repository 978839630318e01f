import type { PlanColumn } from '../plan.ts'
import { valueTypes } from '../value-types.ts'
import { makeCellReader, type Cell, type CellOptions } from './embed-cells.ts'

/** Returns the JSON of the value of a cell; undefined if it does not fit the type of its column. */
export type CellText = (cell: Cell) => string | undefined

/** As many digits are exact as a number. */
const maxDigits = 15

/** Integers of PostgreSQL, which are texts. */
const integers: ReadonlySet<string> = new Set(['id', 'integer', 'bigint'])

/**
 * Makes the writer of the values of a column. A list has many of them, so the usual ones are written as they are, instead
 * of being read, checked and serialized.
 */
export function makeCellText(column: PlanColumn, options: CellOptions): CellText {
  const { type } = column
  if (type === 'json' && options.jsonAsText) return (cell) => (cell === null ? 'null' : String(cell))
  const slow = makeCheckedText(column, options)
  if (options.kind === 'sqlite') return slow
  if (type === 'text') return (cell) => JSON.stringify(cell)
  if (type === 'boolean') return (cell) => (cell === 'true' || cell === 'false' ? cell : slow(cell))
  if (!integers.has(type)) return slow
  return (cell) => (typeof cell === 'string' && cell.length <= maxDigits ? cell : slow(cell))
}

function makeCheckedText(column: PlanColumn, options: CellOptions): CellText {
  const readCell = makeCellReader(column, options)
  const { read, fits } = valueTypes[column.type]
  return (cell) => {
    if (cell === null) return 'null'
    const found = readCell(cell)
    const value = read === undefined ? found : read(found, column)
    return fits(value, column) ? JSON.stringify(value) : undefined
  }
}
