import type { ColumnSnapshot } from 'waypost'
import type { ValueMap } from './config.ts'
import { toTyped, valueTypeOf, type Source, type Sources, type ValueType } from './plan.ts'
import { escapeStep } from './pointers.ts'
import { checkColumn, checkForm, type TableUse } from './table-use.ts'
import { valueTypes } from './value-types.ts'

interface SourceMap {
  /** The key of the config that has the values. */
  readonly name: 'where' | 'set' | 'set_on_update' | 'delete'
  readonly values: ValueMap | undefined
  /** Whether this method uses them. Path parameters and callers are only checked if it does. */
  readonly isUsed: boolean
}

/** Checks values by column, and returns where they come from. */
export function resolveSources(table: TableUse, { name, values = {}, isUsed }: SourceMap): Sources {
  const found = Object.entries(values).flatMap(([column, given]): [string, Source][] => {
    const at = `/${name}/${escapeStep(column)}`
    if (!checkColumn(column, table.table, table.report, at)) return []
    if (given !== null && !checkForm(column, table, at)) return []
    const known = table.table.columns[column]!
    if (name !== 'where' && known.generated) {
      table.report(at, `The database computes the column "${column}"`, { hint: 'Remove it' })
      return []
    }
    const source = parseSource(given)
    const problem = source === undefined ? unknownReference(given) : checkSource(source, { table, name, column: known })
    if (problem !== undefined) {
      const isMissing = source?.from === 'params' || source?.from === 'user'
      if (!isMissing || isUsed) table.report(at, `The value of "${column}" ${problem}`)
      return []
    }
    return [[column, source!]]
  })
  return Object.fromEntries(found)
}

export function parseSource(given: unknown): Source | undefined {
  if (typeof given !== 'string' || !given.startsWith('$')) return { from: 'constant', value: given }
  if (given === '$now') return { from: 'now' }
  if (given === '$user.id') return { from: 'user' }
  return given.startsWith('$params.') ? { from: 'params', name: given.slice('$params.'.length) } : undefined
}

function unknownReference(given: unknown): string {
  return `must be a constant, $now, $user.id or $params.NAME, not "${String(given)}"`
}

interface SourcePlace {
  readonly table: TableUse
  readonly name: SourceMap['name']
  readonly column: ColumnSnapshot
}

/** Returns what a value must be instead; undefined if it is valid. */
function checkSource(source: Source, { table, name, column }: SourcePlace): string | undefined {
  const type = valueTypeOf(column)!
  switch (source.from) {
    case 'now':
      if (name === 'where') return 'must not be $now, because no row has the current time'
      return type === 'timestamp' || type === 'date' ? undefined : `must fit the type ${type}, so it cannot be $now`
    case 'user':
      if (table.use.public) return `cannot be $user.id: ${table.use.method} ${table.use.path} is public`
      return type === 'text' || type === 'uuid' ? undefined : `must fit the type ${type}, so it cannot be $user.id`
    case 'params':
      if (type === 'json') return 'cannot be a path parameter, because the column contains JSON'
      return table.params.includes(source.name)
        ? undefined
        : `cannot be $params.${source.name}: ${table.use.path} has no such parameter`
    default:
      return checkConstant(source.value, { column, type, isCondition: name === 'where' })
  }
}

interface ConstantPlace {
  readonly column: ColumnSnapshot
  readonly type: ValueType
  readonly isCondition: boolean
}

/** Returns what a constant must be instead; undefined if it is valid. */
export function checkConstant(value: unknown, { column, type, isCondition }: ConstantPlace): string | undefined {
  if (value === null)
    return column.null || type === 'json' ? undefined : 'must not be null, which the column does not allow'
  if (type === 'json') return isCondition ? 'must be null, because JSON columns cannot be compared' : undefined
  return valueTypes[type].constant?.(value, toTyped(column))
}
