import { chooseRule, findReference, findServed, makeRule, makeThrough, typeOf } from '../owner-rules.ts'
import { defaultPageBytes } from '../config.ts'
import { valueTypeOf, type EmbedPlan, type OwnerPlan, type PlanColumn, type SortTerm } from '../plan.ts'
import { completeSort, parseSortTerm } from '../sort.ts'
import { describeRow } from '../schemas.ts'
import { checkColumn, columnOf, columnsForCallers, type TableUse } from '../table-use.ts'
import type { Writing } from '../writing.ts'
import { valueTypes } from '../value-types.ts'
import { findAccess, isNarrower } from './embed-access.ts'
import { defaultEmbedLimit, maxEmbeddedRows, type EmbedConfig } from './embed-config.ts'
import { referTo, type ResolvedEmbed } from './describe-embeds.ts'
import { findTarget, type EmbedTarget } from './find-target.ts'

/** Checks which rows of other tables the rows of a method can contain. */
export function resolveEmbeds(table: TableUse, writing: Writing): readonly ResolvedEmbed[] {
  const { embed = {}, embed_always: always = [] } = table.config
  for (const [index, name] of always.entries())
    if (!Object.hasOwn(embed, name))
      table.report(`/embed_always/${index}`, `"embed" has no "${name}"`, {
        unknown: { name, known: Object.keys(embed) },
      })
  const found = Object.entries(embed).flatMap(([name, config]) => {
    if (writing.columns.includes(name))
      table.report(`/embed/${name}`, `"${name}" is a column of the rows`, { hint: 'Choose another name' })
    const target = findTarget(name, config, table)
    if (target === undefined) return []
    const plan = makePlan({ name, config, target, table, isAlways: always.includes(name) })
    const known = columnsForCallers(target.table)
    // The rows have all columns of the action, whose GET describes the schema.
    const { as } = config.columns === undefined && config.from !== undefined ? target.table.config : {}
    const row = as === undefined ? describeRow(plan.columns, known) : { $ref: referTo(as) }
    return { plan, row, known }
  })
  if (table.operation === 'list') checkNumbers(found, table)
  return found
}

/** A page of the default size must be able to have the rows. */
function checkNumbers(embeds: readonly ResolvedEmbed[], { config: { limit = {} }, report }: TableUse): void {
  const { max = 100, default: normal = Math.min(16, max) } = limit
  const most = Math.floor(maxEmbeddedRows / normal)
  const always = embeds.reduce((sum, { plan }) => sum + (plan.always ? (plan.many?.limit ?? 0) : 0), 0)
  for (const { plan } of embeds) {
    const others = plan.always ? 0 : always
    const rows = others + (plan.always ? always : (plan.many?.limit ?? 0))
    if (plan.many === undefined || rows <= most) continue
    report(`/embed/${plan.name}/limit`, `${normal} rows with ${rows} others each are more than ${maxEmbeddedRows}`, {
      severity: plan.always ? 'error' : 'warning', // a row alone may have as many
      hint: 'Lower "limit" of the embed, or the default limit of the list',
    })
  }
}

interface Resolving {
  readonly name: string
  readonly config: EmbedConfig
  readonly target: EmbedTarget
  readonly table: TableUse
  readonly isAlways: boolean
}

function makePlan({ name, config, target, table, isAlways }: Resolving): EmbedPlan {
  const { isMany, own, other } = target
  const { where } = target.writing
  const owner = findOwner(name, target, table)
  const columns = chooseColumns(name, config, { target, table })
  const sort = isMany ? resolveSort(name, config, { target, table }) : []
  const scopes = findAccess(name, config, table)
  if (isAlways) checkAlways(name, scopes, table)
  if (!isMany && (config.sort !== undefined || config.limit !== undefined))
    table.report(`/embed/${name}/${config.sort === undefined ? 'limit' : 'sort'}`, 'Only one row is embedded', {
      hint: 'Remove it',
    })
  const used = new Set([
    other,
    ...columns,
    ...Object.keys(where),
    ...(owner === undefined ? [] : [owner.column]),
    ...sort.map(({ column }) => column),
  ])
  const { max = 100, default: normal = Math.min(defaultEmbedLimit, max) } = target.table.config.limit ?? {}
  const limit = config.limit ?? normal
  const bytes = limitEmbeddedBytes(columns, limit, target.table)
  return {
    name,
    table: target.table.config.table,
    ...(target.table.table.schema !== undefined && { schema: target.table.table.schema }),
    own,
    other,
    types: Object.fromEntries(
      [...used].sort().map((one): [string, PlanColumn] => [one, typeOf(one, target.table.table)!]),
    ),
    columns,
    where,
    ...(owner && { owner }),
    ...(isMany && {
      many: {
        sort,
        limit,
        ...(bytes !== undefined && { bytes }),
        ...(config.write === true && { written: true as const }),
      },
    }),
    ...(scopes && { scopes }),
    ...(isAlways && { always: true as const }),
    ...checkIndex(name, config, { target, table }),
  }
}

/** What a value of another type has at most. */
const maxPlainBytes = 64
const maxCharacterBytes = 4

/** Returns the bytes at which embedded rows end; undefined if so many of them cannot have more. */
function limitEmbeddedBytes(
  columns: readonly string[],
  limit: number,
  { table, config }: TableUse,
): number | undefined {
  const { max_bytes: bytes = defaultPageBytes } = config.limit ?? {}
  const sizes = columns.map((name) => {
    const { length = Infinity } = table.columns[name]!
    return valueTypes[valueTypeOf(table.columns[name]!)!].isLarge ? length * maxCharacterBytes : maxPlainBytes
  })
  return sizes.reduce((sum, size) => sum + size, 0) * limit > bytes ? bytes : undefined
}

/**
 * Returns the owner of embedded rows; undefined if nothing else protects them than this row. Rows below a path that names
 * a row belong to the owner of that row.
 */
function findOwner(name: string, target: EmbedTarget, table: TableUse): OwnerPlan | undefined {
  const { isInPath, writing, other } = target
  const owner = writing.owner ?? (isInPath ? findPathOwner(target, table) : undefined)
  const { method, path, public: isPublic } = table.use
  if (owner?.parent !== undefined && writing.owner === undefined && isPublic)
    table.report(
      `/embed/${name}/from`,
      `The rows cannot be embedded: ${method} ${path} is public, so its callers own no rows of "${owner.parent.rule.table}"`,
      { hint: `Remove "public: true", or add parents: { ${other}: any } to the action of the rows` },
    )
  return owner !== undefined && isOwnRow(owner, target, table) ? undefined : owner
}

function findPathOwner({ other, table: { config, table: own } }: EmbedTarget, table: TableUse): OwnerPlan | undefined {
  const reference = findReference(other, own)
  const served = findServed(table.connection, table.use, table.snapshot)
  return reference && makeThrough(reference, chooseRule(config, reference, { served }))
}

/** Whether embedded rows belong to the owner of this row, which the caller has access to by the same rule. */
function isOwnRow({ column, parent }: OwnerPlan, { isMany, own, other }: EmbedTarget, table: TableUse): boolean {
  if (!isMany || parent === undefined || column !== other || parent.to !== own) return false
  const rule = makeRule(table.config, findServed(table.connection, table.use, table.snapshot))
  return JSON.stringify(rule) === JSON.stringify(parent.rule)
}

interface Place {
  readonly target: EmbedTarget
  readonly table: TableUse
}

function chooseColumns(name: string, { columns }: EmbedConfig, { target, table }: Place): readonly string[] {
  const known = target.writing.columns
  if (columns === undefined) return known
  return columns.filter((column, index) => {
    const at = `/embed/${name}/columns/${index}`
    if (!checkColumn(column, target.table.table, table.report, at)) return false
    if (known.includes(column)) return true
    table.report(at, `"${column}" is not in the "columns" of the action`, { unknown: { name: column, known } })
    return false
  })
}

function resolveSort(name: string, { sort }: EmbedConfig, { target, table }: Place): readonly SortTerm[] {
  const { config, table: other, key } = target.table
  const terms = (sort ?? config.sort ?? []).map(parseSortTerm)
  const usable = terms.filter(({ column }, index) => {
    if (sort === undefined) return columnOf(other, column) !== undefined
    const at = `/embed/${name}/sort/${index}`
    if (!checkColumn(column, other, table.report, at)) return false
    if (columnOf(other, column)!.type !== 'json') return true
    table.report(at, `Rows cannot be sorted by "${column}", because it contains JSON`)
    return false
  })
  return completeSort(usable, key)
}

function checkAlways(name: string, scopes: EmbedPlan['scopes'], table: TableUse): void {
  if (!isNarrower(scopes, table.use)) return
  const { method, path } = table.use
  table.report(`/embed_always`, `Not all callers of ${method} ${path} may call a GET of the action of "${name}"`, {
    hint: 'Remove it, so that callers ask for it with ?embed, or give both the same scopes',
  })
}

/** Warns if no index finds the embedded rows: each row reads the whole other table. */
function checkIndex(name: string, { by }: EmbedConfig, { target, table }: Place): Pick<EmbedPlan, 'scans'> {
  const { table: other, config, key } = target.table
  const indexes = [key, ...(other.unique ?? []), ...(other.index ?? [])]
  if (!target.isMany || indexes.some(([first]) => first === by)) return {}
  table.report(
    `/embed/${name}/by`,
    `No index of "${config.table}" begins with "${by}", so each row reads all of them`,
    {
      severity: 'warning',
      hint: `Add an index: [${by}]`,
    },
  )
  return { scans: true }
}
