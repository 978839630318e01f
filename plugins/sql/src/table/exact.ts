import type { ColumnSnapshot, ConfigProblem, TableSnapshot } from 'waypost'
import type { TableConfig } from './config.ts'
import { isLossy } from './plan.ts'

interface ExactUse {
  readonly config: TableConfig
  readonly isSqlite: boolean
  report(at: string, message: string, options?: Pick<ConfigProblem, 'hint' | 'unknown'>): void
}

/** Returns a table whose decimals are exact as far as the config says so. */
export function withExact(table: TableSnapshot, { config, isSqlite, report }: ExactUse): TableSnapshot {
  const exact = (config.exact ?? []).flatMap((name, index): [string, ColumnSnapshot][] => {
    const known = Object.hasOwn(table.columns, name) ? table.columns[name] : undefined
    if (known !== undefined && !isSqlite && isLossy(known)) {
      const { as = '', ...column } = known
      return [[name, { ...column, ...toDigits(as) }]]
    }
    const at = `/exact/${index}`
    const reason = isSqlite ? 'SQLite stores numbers, which have lost their digits' : 'its type is not numeric'
    if (known === undefined)
      report(at, `Unknown column "${name}"`, { unknown: { name, known: Object.keys(table.columns) } })
    else report(at, `The values of "${name}" cannot be exact: ${reason}`, { hint: 'Remove it' })
    return []
  })
  return exact.length === 0 ? table : { ...table, columns: { ...table.columns, ...Object.fromEntries(exact) } }
}

/** `numeric(12,2)`, or `numeric` with any number of digits. */
function toDigits(as: string): Pick<ColumnSnapshot, 'type' | 'precision' | 'scale'> {
  const [precision, scale = 0] = (/\((.*)\)/.exec(as)?.[1] ?? '').split(',').filter(Boolean).map(Number)
  if (precision === undefined || scale < 0 || scale > precision) return { type: 'numeric' }
  return { type: 'numeric', precision, ...(scale > 0 && { scale }) }
}
