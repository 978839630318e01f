import type { ForeignKeySnapshot, TableSnapshot } from 'waypost'
import type { TableConfig } from '../config.ts'
import { findReference, findRules, findServed } from '../owner-rules.ts'
import { columnOf, makeOtherUse, type Report, type TableUse } from '../table-use.ts'
import { resolveWriting, type Writing } from '../writing.ts'
import type { EmbedConfig } from './embed-config.ts'

/** The other table of an embed, and how the rows of the two belong together. */
export interface EmbedTarget {
  /** The action whose rows they are, or what it would be if the embed names none. */
  readonly table: TableUse
  /** The columns and rules of that action. */
  readonly writing: Writing
  readonly isMany: boolean
  /** The column of this table, and the one of the other table, whose values are equal. */
  readonly own: string
  readonly other: string
  /** The path of the action names the row that these rows refer to. */
  readonly isInPath: boolean
}

/**
 * Finds the other table of an embed, with the rules of the action that it names.
 * @returns undefined if there is a problem, which is reported at `/embed/NAME`
 */
export function findTarget(name: string, embed: EmbedConfig, own: TableUse): EmbedTarget | undefined {
  const at = `/embed/${name}`
  const config = findConfig(embed, own, at)
  if (config === undefined) return undefined
  const table = own.snapshot.tables[config.table]
  const pair = table && findPair(embed, { own, table, name: config.table }, at)
  if (pair === undefined) return undefined
  const { from = config.table } = embed
  const reportOther: Report = (_, message, { severity, hint } = {}) => {
    if (severity === 'warning') return
    own.report(`${at}/from`, `The rows of "${from}" cannot be embedded: ${message}`, hint === undefined ? {} : { hint })
  }
  const isInPath = pair.isMany && String(config.where?.[pair.other]).startsWith('$params.')
  const other = makeOtherUse(own, isInPath ? without(config, pair.other) : config, reportOther)
  return other && { table: other, writing: resolveWriting(other), isInPath, ...pair }
}

/** The column has the value of this row, whatever path the other action has. */
function without({ where = {}, ...config }: TableConfig, column: string): TableConfig {
  return { ...config, where: Object.fromEntries(Object.entries(where).filter(([name]) => name !== column)) }
}

/** Returns the config of the action, or that of the rows that a column refers to, which nothing protects. */
function findConfig({ from, by, columns }: EmbedConfig, own: TableUse, at: string): TableConfig | undefined {
  const { use, connection, report } = own
  if (from !== undefined) {
    const known = use.actions as unknown as Readonly<Record<string, TableConfig>>
    const config = Object.hasOwn(known, from) ? known[from]! : undefined
    if (config === undefined)
      report(`${at}/from`, `Unknown action "${from}"`, { unknown: { name: from, known: Object.keys(known) } })
    else if ((config.connection ?? 'System') !== connection)
      report(`${at}/from`, `"${from}" uses another connection, so its rows cannot be embedded`)
    else return config
    return undefined
  }
  const reference = findReference(by, own.table)
  if (reference === undefined) {
    report(`${at}/by`, `"${by}" does not refer to another table`, {
      hint: 'Specify a column with its own foreign key, or the action whose rows refer to this table in "from"',
    })
    return undefined
  }
  const [rule] = findRules(reference.table, findServed(connection, use, own.snapshot))
  if (rule !== undefined) {
    report(at, `The rows of "${reference.table}" have an owner, so the embed needs an action whose rules apply`, {
      hint: `Add from: ${rule.names[0]}`,
    })
    return undefined
  }
  if (columns !== undefined) return { connection, table: reference.table, columns: 'all' }
  report(at, 'It is ambiguous which columns are embedded', {
    hint: 'Add "columns", or the name of an action in "from"',
  })
  return undefined
}

type Pair = Pick<EmbedTarget, 'isMany' | 'own' | 'other'>

interface Tables {
  readonly own: TableUse
  readonly table: TableSnapshot
  readonly name: string
}

/** Finds out which of the two tables refers to the other one by the column. */
function findPair({ by, many }: EmbedConfig, { own, table, name }: Tables, at: string): Pair | undefined {
  const { config, report } = own
  const refersTo = (from: TableSnapshot, to: string): ForeignKeySnapshot | undefined => {
    const found = findReference(by, from)
    return found?.table === to ? found : undefined
  }
  const one = many === true ? undefined : refersTo(own.table, name)
  const several = many === false ? undefined : refersTo(table, config.table)
  if (one !== undefined && several !== undefined) {
    report(
      at,
      `"${by}" refers from "${config.table}" to "${name}" and back, so "embed" could mean one row or several`,
      {
        hint: 'Add many: true for the rows that refer to this one, or many: false for the one that it refers to',
      },
    )
    return undefined
  }
  if (one !== undefined) return { isMany: false, own: by, other: one.to[0]! }
  if (several !== undefined) return { isMany: true, own: several.to[0]!, other: by }
  const known = [own.table, table].some((each) => columnOf(each, by) !== undefined)
  const problem = known
    ? `"${by}" refers neither from "${config.table}" to "${name}" nor back`
    : `Neither "${config.table}" nor "${name}" has a column "${by}"`
  report(`${at}/by`, problem, { hint: 'Specify a column with its own foreign key' })
  return undefined
}
