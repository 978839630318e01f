import type { ColumnSnapshot, TableSnapshot } from '../contract/index.ts'
import type { Report, StepContext } from './step-context.ts'
import type { ColumnChange, Step } from './steps.ts'
import { changeValues } from './write-steps.ts'

type AlterStep = Extract<Step, { step: 'alter_column' }>

/** Reports changes that could lose values or fail on rows. */
export function reportChange(
  { table: name, column, change }: AlterStep,
  table: TableSnapshot,
  { report }: StepContext,
): void {
  const known = table.columns[column]!
  const instead = 'Add another column, copy the values in a TypeScript migration, and drop this one'
  const isForeign = known.type === 'other' || known.as !== undefined
  if (known.type === 'id' || known.generated || isForeign) {
    const reason = isForeign ? `its type is ${known.as ?? 'not known'}` : 'the database computes it'
    const part = Object.keys(change).at(-1)!
    report([column, part], `"${column}" of "${name}" cannot change: ${reason}`, 'Write a TypeScript migration')
    return
  }
  reportValues({ column, change }, known, report)
  if (change.type !== undefined && !isWider(known, { ...change, type: change.type }))
    report(
      [column, 'type'],
      `"${column}" cannot change from ${showType(known)} to ${showType(change)}: values may not fit`,
      `Only text can become longer or an enum, integer can become bigint, an enum text, and numeric can get more digits. ${instead}`,
    )
  if (change.null === true && table.key?.includes(column))
    report([column, 'null'], `The key column "${column}" must not be null`)
  const hasDefault = change.default === undefined ? known.default === true : change.default !== null
  const isRequired = change.null === false && known.null === true
  if (isRequired && !hasDefault)
    report([column, 'null'], `"${column}" needs a default, which replaces NULL in existing rows`, 'Add a default')
  reportRule({ column, change }, table, report)
}

/** Reports what contradicts the rule of the reference of a column. */
function reportRule(
  { column, change }: Pick<AlterStep, 'column' | 'change'>,
  table: TableSnapshot,
  report: Report,
): void {
  const rule = table.references?.find(({ columns }) => columns.includes(column))?.on_delete
  if (rule === 'set null' && change.null === false)
    report([column, 'null'], `"${column}" becomes NULL when the row that it references is deleted`)
  if (rule === 'set default' && change.default === null)
    report([column, 'default'], `"${column}" gets its default when the row that it references is deleted`)
}

/** Reports values that an enum cannot get or lose. Only a database knows whether rows have them. */
function reportValues(
  { column, change }: Pick<AlterStep, 'column' | 'change'>,
  known: ColumnSnapshot,
  report: Report,
): void {
  const { add_values: added = [], remove_values: removed = [], default: fallback } = change
  const part = added.length > 0 ? 'add_values' : 'remove_values'
  if (added.length + removed.length > 0 && known.type !== 'enum') {
    report([column, part], `"${column}" has the type ${known.type}, which has no values`)
    return
  }
  const { values = [] } = known
  for (const value of added.filter((one) => values.includes(one)))
    report([column, 'add_values'], `"${column}" already has the value "${value}"`)
  for (const value of removed.filter((one) => !values.includes(one)))
    report([column, 'remove_values'], `"${column}" has no value "${value}"`, `Its values: ${values.join(', ')}`)
  const after = changeValues(change, { values }) ?? values
  if (known.type === 'enum' && after.length === 0)
    report([column, 'remove_values'], `"${column}" would have no value left`)
  if ((change.type ?? known.type) === 'enum' && typeof fallback === 'string' && !after.includes(fallback))
    report([column, 'default'], `The default of "${column}" must be one of ${after.join(', ')}`)
}

export function digitsOf({ precision, scale }: Pick<ColumnSnapshot, 'precision' | 'scale'>) {
  return { ...(precision !== undefined && { precision }), ...(scale && { scale }) }
}

function isWider(
  from: ColumnSnapshot,
  to: Pick<ColumnChange, 'length' | 'precision' | 'scale' | 'values'> & { readonly type: ColumnSnapshot['type'] },
): boolean {
  if (from.type === 'integer' && to.type === 'bigint') return true
  if (from.type === 'text' && to.type === 'enum') return true // a migration checks the rows
  if (from.type === 'enum' && to.type === 'text') return to.length === undefined
  if (from.type === 'numeric' && to.type === 'numeric')
    return to.precision === undefined || ((to.scale ?? 0) === (from.scale ?? 0) && to.precision >= from.precision!)
  if (from.type !== to.type) return false
  return to.type !== 'text' || (to.length ?? Infinity) >= (from.length ?? Infinity)
}

function showType({
  type,
  length,
}: {
  readonly type?: string | undefined
  readonly length?: number | undefined
}): string {
  return length === undefined ? (type ?? '') : `${type}(${length})`
}
