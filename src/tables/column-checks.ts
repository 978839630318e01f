import { scaleDecimal, type DatabaseKind } from '../contract/index.ts'
import { sha256 } from '../kit/index.ts'
import type { ColumnDeclaration } from './steps.ts'

/**
 * The ends of the names of check constraints. A snapshot recognizes columns of these types by them: both are texts or numbers
 * of the database.
 */
export const checkSuffixes = { enum: '_enum', numeric: '_decimal' } as const

export type CheckedType = keyof typeof checkSuffixes

export function isCheckedType(type: string | undefined): type is CheckedType {
  return type !== undefined && Object.hasOwn(checkSuffixes, type)
}

/** Whether a constraint with this name is that of a type. */
export function isCheckOf(name: string, type: CheckedType): boolean {
  return name.endsWith(checkSuffixes[type])
}

const maxNameLength = 63

/** Returns a name of at most 63 characters, as PostgreSQL has them. */
export function shortenName(name: string, suffix: string): string {
  if (name.length + suffix.length <= maxNameLength) return name + suffix
  return `${name.slice(0, maxNameLength - suffix.length - 9)}_${sha256(name + suffix).slice(0, 8)}${suffix}`
}

/** Returns the name of the check constraint of a column. */
export function nameCheck(
  { table, column }: { readonly table: string; readonly column: string },
  type: CheckedType,
): string {
  return shortenName(`${table}_${column}`, checkSuffixes[type])
}

type Checked = Pick<ColumnDeclaration, 'type' | 'values' | 'precision'>

/** Returns the check constraint of a column; undefined if its type needs none. */
export function writeCheck(
  { table, column, name }: { readonly table: string; readonly column: string; readonly name?: string | undefined },
  declared: Checked,
  kind: DatabaseKind,
): string | undefined {
  const condition = writeCondition(column, declared, kind)
  if (condition === undefined || !isCheckedType(declared.type)) return undefined
  return `constraint ${quote(name ?? nameCheck({ table, column }, declared.type))} check (${condition})`
}

function writeCondition(column: string, { type, values, precision }: Checked, kind: DatabaseKind): string | undefined {
  const name = quote(column)
  if (type === 'enum' && values !== undefined) return `${name} in (${values.map(writeText).join(', ')})`
  if (type !== 'numeric') return undefined
  if (kind === 'postgresql') return `${name} <> 'NaN'`
  return `typeof(${name}) in ('integer', 'null') and abs(${name}) < 1${'0'.repeat(precision!)}`
}

/** Returns the values that the check constraint of an enum allows, from its text in either database. */
export function readEnumValues(check: string): readonly string[] {
  const parts = check.matchAll(/"(?:[^"]|"")*"|(\bE)?'((?:[^']|'')*)'/gi) // names, and texts
  return [...parts].flatMap(([, escaped, text]) => {
    const value = text?.replaceAll("''", "'")
    if (value === undefined) return []
    return escaped === undefined ? value : value.replaceAll(String.raw`\\`, '\\')
  })
}

/** The largest number of digits of a decimal: SQLite stores it as an integer of 64 bits. */
export const maxPrecision = 18

/** Returns a decimal as SQLite stores it, and undefined if a column cannot have it. */
export function storeDecimal(
  value: unknown,
  { precision = maxPrecision, scale = 0 }: Pick<ColumnDeclaration, 'precision' | 'scale'>,
): bigint | undefined {
  const scaled = typeof value === 'string' || typeof value === 'number' ? scaleDecimal(String(value), scale) : undefined
  if (scaled === undefined) return undefined
  return (scaled < 0n ? -scaled : scaled) < 10n ** BigInt(precision) ? scaled : undefined
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function writeText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
