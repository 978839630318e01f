import type { DatabaseKind } from 'waypost'
import type { EmbedPlan, TablePlan } from '../plan.ts'
import { quote } from '../statement-values.ts'

/** Types whose values PostgreSQL writes in JSON as responses have them. */
const plainTypes: ReadonlySet<string> = new Set(['id', 'integer', 'bigint', 'boolean', 'text', 'uuid', 'enum'])

/** Whether the statement writes embedded rows as responses have them, so that they are sent without being read. */
export function isPlain(
  { isDeclared }: Pick<TablePlan, 'isDeclared'>,
  { columns, types, many }: EmbedPlan,
  kind: DatabaseKind,
): boolean {
  return (
    kind === 'postgresql' &&
    isDeclared !== true &&
    many?.bytes === undefined &&
    columns.every((name) => plainTypes.has(types[name]!.type))
  )
}

// JSON contains no control characters.
const [separator, unfit] = ['\u0001', '\u0002']

/** Writes the expression of a row as JSON. A number that does not fit is marked. */
export function writePlainRow({ columns, types }: Pick<EmbedPlan, 'columns' | 'types'>, alias: string): string {
  const parts = columns.flatMap((name, index) => [
    `'${index === 0 ? '{' : ','}${JSON.stringify(name).replaceAll("'", "''")}:'`,
    `coalesce(${writePlain(types[name]!.type, `${alias}.${quote(name)}`, index)}, 'null')`,
  ])
  return `${parts.join(' || ')} || '}'`
}

function writePlain(type: string, name: string, index: number): string {
  if (type === 'integer' || type === 'boolean') return `cast(${name} as text)`
  if (type !== 'id' && type !== 'bigint') return `cast(to_json(${name}) as text)`
  const text = `cast(${name} as text)`
  const large = type === 'bigint' ? `'"' || ${text} || '"'` : `chr(2) || '${index}:' || ${text} || chr(2)`
  return `case when ${name} between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER} then ${text} when ${name} is not null then ${large} end`
}

/** Writes the expression of the rows that a query returns as one column. */
export function writePlainRows(query: string): string {
  return `array_to_string(array(${query}), chr(1))`
}

/** Returns the rows that `writePlainRows` wrote. */
export function splitPlainRows(text: string): readonly string[] {
  return text === '' ? [] : text.split(separator)
}

/** Replaces numbers that do not fit by null. @param report called with the index of the column, and the number */
export function replaceUnfit(text: string, report: (column: number, value: string) => void): string {
  if (!text.includes(unfit)) return text
  // oxlint-disable-next-line no-control-regex -- the mark
  return text.replaceAll(/\u0002(\d+):(-?\d+)\u0002/g, (_, index: string, value: string) => {
    report(Number(index), value)
    return 'null'
  })
}
