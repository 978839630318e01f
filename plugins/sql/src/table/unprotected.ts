import { findRules, findServed, type Served } from './owner-rules.ts'
import { columnOf, type TableUse } from './table-use.ts'
import type { Writing } from './writing.ts'

const ownerNames = ['user_id', 'owner_id']

/** Warns where callers get at rows of other users, or learn of their values. */
export function warnAboutUnprotected(table: TableUse, writing: Writing): void {
  const { config, use, connection, snapshot } = table
  const served = findServed(connection, use, snapshot)
  if (config.owner !== undefined) warnAboutUnique(table, writing)
  else if (!use.public && findRules(config.table, served).length === 0) warnAboutRows(table, served)
}

/** The table has no rule at all, although its rows seem to belong to users. */
function warnAboutRows({ config, table, report }: TableUse, served: Served): void {
  const { references = [] } = table
  const { where = {}, parents = {} } = config
  const isBound = (column: string) => Object.hasOwn(where, column) || Object.hasOwn(parents, column)
  const column = ownerNames.find((name) => ['text', 'uuid'].includes(columnOf(table, name)?.type ?? ''))
  if (column !== undefined && where[column] !== '$user.id') {
    report('/table', `Callers have access to the rows of all users, although "${config.table}" has a "${column}"`, {
      severity: 'warning',
      hint: `Add owner: ${column}`,
    })
    return
  }
  if (column !== undefined) return
  const owned = references.find(
    ({ columns, table: parent }) =>
      columns.length === 1 && !isBound(columns[0]!) && parent !== config.table && findRules(parent, served).length > 0,
  )
  if (owned === undefined) return
  const [name] = owned.columns
  report('/table', `Callers have access to all rows, although "${name}" refers to rows of users in "${owned.table}"`, {
    severity: 'warning',
    hint: `Add owner: { through: ${name} }, or parents: { ${name}: any }`,
  })
}

/** The response 409 tells that the row of another user has a value, unless users only collide with themselves. */
function warnAboutUnique({ config, table, key, report }: TableUse, { owner, write }: Writing): void {
  if (owner === undefined) return
  for (const columns of [key, ...(table.unique ?? [])]) {
    if (columns.includes(owner.column) || !columns.some((name) => write.includes(name))) continue
    const names = columns.join(', ')
    report(
      '/owner',
      `"${names}" is unique among the rows of all users, so a 409 reveals that another user has a value`,
      {
        severity: 'warning',
        hint: `Make "${owner.column}, ${names}" unique instead of "${names}" in "${config.table}"`,
      },
    )
  }
}
