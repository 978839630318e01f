import type { ForeignKeySnapshot } from 'waypost'
import { chooseRule, findRules, findServed, type Served } from './owner-rules.ts'
import type { ReferencePlan, Source, TablePlan } from './plan.ts'
import type { TableUse } from './table-use.ts'
import type { Writing } from './writing.ts'

/** Finds the references that a method must check, because owner rules apply to the rows that they refer to. */
export function resolveReferences(table: TableUse, writing: Writing): readonly ReferencePlan[] {
  const { use, report } = table
  const served = findServed(table.connection, use, table.snapshot)
  checkParents(table, served)
  const found = (table.table.references ?? []).flatMap((reference) => {
    const given = isGiven(reference, table, writing)
    return given === undefined ? [] : resolveReference(reference, { table, served, given })
  })
  const [first] = found
  if (use.public && first !== undefined)
    report('', `${use.method} ${use.path} is public, so its callers own no rows of "${first.rule.table}"`, {
      hint: `Remove "public: true", or allow references to the rows of all users with parents: { ${first.columns[0]}: any }`,
    })
  return found
}

interface ReferencePlace {
  readonly table: TableUse
  readonly served: Served
  readonly given: 'path' | 'body'
}

function resolveReference(
  reference: ForeignKeySnapshot,
  { table: { config, report }, served, given }: ReferencePlace,
): readonly ReferencePlan[] {
  const { columns, to, table } = reference
  const rules = findRules(table, served)
  const named = columns.find((one) => Object.hasOwn(config.parents ?? {}, one))
  const column = named ?? columns[0]!
  if (named !== undefined && config.parents![named] === 'any') {
    if (rules.length > 0 && given === 'body') warnAboutAny(column, reference, report)
    return []
  }
  const rule = chooseRule(config, reference, { served })
  if (rule !== undefined) return [{ columns, to, rule, ...(given === 'path' && { inPath: true as const }) }]
  const names = rules.flatMap((one) => one.names.slice(0, 1))
  if (rules.length > 1 && named === undefined)
    report('', `"${column}" refers to "${table}", which has several owner rules: those of ${names.join(', ')}`, {
      hint: `Choose one of them, for example parents: { ${column}: ${names[0]} }`,
    })
  return []
}

function warnAboutAny(column: string, { table, on_delete: onDelete }: ForeignKeySnapshot, report: TableUse['report']) {
  const keeps = onDelete === 'cascade' || onDelete === 'set null' ? '' : 'prevent them from being deleted, and '
  report(
    `/parents/${column}`,
    `Callers can refer to rows of "${table}" of other users, ${keeps}find out which of them exist`,
    { severity: 'warning', hint: 'Remove it, unless all callers may know these rows' },
  )
}

/** Reports entries of "parents" that say nothing. */
function checkParents({ config, table, report }: TableUse, served: Served): void {
  for (const [column, name] of Object.entries(config.parents ?? {})) {
    const at = `/parents/${column}`
    const references = table.references?.filter(({ columns }) => columns.includes(column)) ?? []
    const rules = references.flatMap((reference) => findRules(reference.table, served))
    const names = rules.flatMap((one) => one.names)
    if (rules.length === 0)
      report(at, `"${column}" does not refer to a table with an "owner"`, { severity: 'warning', hint: 'Remove it' })
    else if (name !== 'any' && !names.includes(name))
      report(at, `"${name}" is not an action with an "owner" for the table that "${column}" refers to`, {
        unknown: { name, known: ['any', ...names] },
      })
  }
}

/** Whether a request names the row that a reference refers to: in its path or, also, in its body. */
function isGiven(
  { columns }: ForeignKeySnapshot,
  { key, params, operation }: TableUse,
  { write, set, where, owner }: Writing,
): ReferencePlace['given'] | undefined {
  if (columns.some((one) => write.includes(one))) return 'body'
  const isRow = operation !== 'list' && operation !== 'insert'
  const sourceOf = (column: string): Source | undefined => {
    if (Object.hasOwn(set, column)) return set[column]
    if (Object.hasOwn(where, column)) return where[column]
    if (owner?.column === column && owner.unless === undefined && owner.parent === undefined) return { from: 'user' }
    return isRow && key.includes(column) && params.includes(column) ? { from: 'params', name: column } : undefined
  }
  const sources = columns.map(sourceOf)
  const isFull = sources.every((one) => one !== undefined)
  if (isFull && sources.some((one) => one?.from === 'params')) return 'path'
  return columns.some((one) => Object.hasOwn(set, one) && set[one]!.from === 'params') ? 'body' : undefined
}

/** Returns the scopes that give access to the rows of all users, of each rule of a plan. */
export function listUnless({
  owner,
  references = [],
  embeds = [],
}: Pick<TablePlan, 'owner' | 'references' | 'embeds'>): readonly string[] {
  const rules = [owner, ...references.map(({ rule }) => rule.owner), ...embeds.map((embed) => embed.owner)]
  const owners = rules.flatMap((one) => [one, one?.parent?.rule.owner])
  return [...new Set(owners.flatMap((one) => one?.unless ?? []))].sort()
}
