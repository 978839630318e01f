import type { ActionHttp } from 'waypost'
import type { UpsertPlan } from './plan.ts'
import { checkColumn, columnOf, type TableUse } from './table-use.ts'
import type { Writing } from './writing.ts'

/** Checks `upsert`. @returns what a POST does with a row that exists; undefined if that is an error */
export function resolveUpsert(table: TableUse, writing: Writing): UpsertPlan | undefined {
  const { config, operation, report } = table
  const { upsert } = config
  if (upsert === undefined || operation !== 'insert') return undefined
  const isUsable = upsert.filter((name, index) => checkUnique(table, writing, { name, at: `/upsert/${index}` }))
  if (isUsable.length < upsert.length) return undefined
  const columns = findConstraint(table, writing, upsert)
  if (columns === undefined) {
    reportConstraint(table, writing, upsert)
    return undefined
  }
  const { write, set } = writing.change
  const moved = (table.table.references ?? []).find((reference) =>
    reference.columns.some((name) => set[name]?.from === 'params'),
  )
  if (moved !== undefined)
    report('/upsert', `"set_on_update" would change "${moved.columns.join(', ')}", which refers to another row`, {
      hint: 'Remove it from "set_on_update"',
    })
  return { columns, write: write.filter((name) => !columns.includes(name)), set }
}

interface UniqueColumn {
  readonly name: string
  readonly at: string
}

function checkUnique({ table, report }: TableUse, { write }: Writing, { name, at }: UniqueColumn): boolean {
  if (!checkColumn(name, table, report, at)) return false
  if (!write.includes(name)) {
    report(at, `"${name}" cannot identify the row, because callers cannot write it`, { hint: 'Add it to "write"' })
    return false
  }
  if (columnOf(table, name)!.form !== 'mixed') return true
  report(at, `"${name}" cannot identify the row, because its times have several forms`)
  return false
}

/** The column of the owner must be in the constraint: otherwise callers would change or learn of rows of others. */
function ownerOf({ owner }: Writing): readonly string[] {
  return owner === undefined ? [] : [owner.column]
}

/** Finds the unique constraint of the columns, of the owner's, and of others that have the same value in all rows of the API. */
function findConstraint(
  { table, key }: TableUse,
  writing: Writing,
  upsert: readonly string[],
): readonly string[] | undefined {
  const needed = [...new Set([...upsert, ...ownerOf(writing)])]
  const known = new Set([...needed, ...Object.keys(writing.set)])
  return [key, ...(table.unique ?? [])].find(
    (columns) => needed.every((name) => columns.includes(name)) && columns.every((name) => known.has(name)),
  )
}

function reportConstraint({ config, report }: TableUse, writing: Writing, upsert: readonly string[]): void {
  const columns = [...new Set([...ownerOf(writing), ...upsert])].join(', ')
  report('/upsert', `No unique constraint of "${config.table}" consists of ${columns}`, {
    hint: `Make them unique in a migration: unique: [[${columns}]]`,
  })
}

export function listUpsertColumns(upsert: UpsertPlan | undefined): readonly string[] {
  return upsert === undefined ? [] : [...upsert.columns, ...Object.keys(upsert.set)]
}

/** Describes the responses of a POST that inserts or changes a row. */
export function describeUpsert(
  { config }: TableUse,
  { headers, etag }: { readonly headers: readonly string[]; readonly etag: object },
): ActionHttp {
  const columns = config.upsert!.map((name) => `"${name}"`).join(' and ')
  return {
    responses: { 200: { ...etag, description: 'The row existed and was changed' }, 201: { headers } },
    behavior: { upsert: `Changes the row with the same ${columns}, if it exists.` },
  }
}
