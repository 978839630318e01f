import type { ColumnChange, ColumnDeclaration } from './steps.ts'

/** What is wrong with the type of a column. */
interface TypeProblem {
  /** The key that is wrong; undefined if one is missing. */
  readonly part?: string
  readonly problem: string
  readonly hint?: string
}

/** Checks that a column has the values or the digits that its type needs, and none that it cannot have. */
export function checkTypeParts(column: ColumnDeclaration | ColumnChange, isChange = false): TypeProblem | undefined {
  const { type, values } = column
  const { add_values: added, remove_values: removed } = column as ColumnChange
  const isEnum = type === 'enum' || (isChange && type === undefined && values === undefined)
  for (const [part, list] of Object.entries({ values, add_values: added, remove_values: removed })) {
    if (list === undefined) continue
    if (!isEnum) return { part, problem: `has "${part}", which only the type enum has`, hint: 'Add "type: enum"' }
    const repeated = list.find((value, index) => list.indexOf(value) !== index)
    if (repeated !== undefined) return { part, problem: `has the value "${repeated}" twice` }
  }
  if (type === 'enum' && values === undefined && !isChange)
    return { part: 'type', problem: 'needs its values', hint: 'Add values: [open, closed]' }
  return checkDigits(column, isChange)
}

function checkDigits(
  { type, precision, scale }: Pick<ColumnChange, 'type' | 'precision' | 'scale'>,
  isChange: boolean,
): TypeProblem | undefined {
  const digits = precision === undefined ? 'scale' : 'precision'
  if (type !== 'numeric' && (precision ?? scale) !== undefined)
    return { part: digits, problem: `has "${digits}", which only the type numeric has`, hint: 'Add "type: numeric"' }
  if (type !== 'numeric') return undefined
  if (precision === undefined && !isChange)
    return { part: 'type', problem: 'needs the number of its digits', hint: 'Add precision: 10 and scale: 2' }
  if (precision !== undefined && (scale ?? 0) > precision)
    return { part: 'scale', problem: `has ${scale} digits after the decimal point, but only ${precision} digits` }
  return undefined
}
