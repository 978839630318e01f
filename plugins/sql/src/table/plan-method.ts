import type { JsonSchema } from 'waypost'
import type { ResolvedChildren } from './children/describe-children.ts'
import type { ResolvedEmbed } from './embed/describe-embeds.ts'
import {
  planFormat,
  toPlanColumn,
  valueTypeOf,
  type ListPlan,
  type PlanColumn,
  type ReferencePlan,
  type TablePlan,
  type UpsertPlan,
} from './plan.ts'
import type { TableUse } from './table-use.ts'
import { listUpsertColumns } from './upsert.ts'
import type { Writing } from './writing.ts'

/** What is known of a method beside its columns. */
export interface Parts {
  readonly params: JsonSchema | undefined
  readonly list: ListPlan | undefined
  readonly scans: boolean
  readonly references: readonly ReferencePlan[]
  readonly embeds: readonly ResolvedEmbed[]
  readonly bulk: number | undefined
  readonly upsert: UpsertPlan | undefined
  readonly csv: boolean
  readonly children: readonly ResolvedChildren[]
}

/** Returns the column whose value completes the path of a new row. */
export function findLocation({ key }: Pick<TableUse, 'key'>, { where, owner, columns }: Writing): string | undefined {
  const fixed = new Set([...Object.keys(where), owner?.parent === undefined ? owner?.column : undefined])
  const [first, ...others] = key.filter((name) => !fixed.has(name))
  return first !== undefined && others.length === 0 && columns.includes(first) ? first : undefined
}

/** Describes the columns that statements name. */
function describeColumns(
  { config, table }: Pick<TableUse, 'config' | 'table'>,
  used: readonly string[],
): TablePlan['types'] {
  const types = [...new Set(used)].sort().map((name): [string, PlanColumn] => {
    const column = table.columns[name]!
    const hasDefault = column.default ?? (column.type === 'id' || undefined)
    return [
      name,
      {
        ...toPlanColumn(column),
        ...(hasDefault && { default: true }),
        ...(config.json?.[name] && { limits: config.json[name] }),
      },
    ]
  })
  return Object.fromEntries(types)
}

function planOptions({ bulk, upsert, csv, children }: Pick<Parts, 'bulk' | 'upsert' | 'csv' | 'children'>) {
  return {
    ...(children.length > 0 && { children: children.map(({ plan }) => plan) }),
    ...(bulk !== undefined && { bulk, each: true as const }),
    ...(upsert && { upsert }),
    ...(csv && { csv: true as const }),
  }
}

/** Plans how rows are written. A declared response replaces the derived one, and may look inside the values. */
function planResponses(
  { use, table }: Pick<TableUse, 'use' | 'table'>,
  columns: readonly string[],
  embeds: readonly ResolvedEmbed[],
): Pick<TablePlan, 'jsonAsText' | 'isDeclared'> {
  if (Object.keys(use.declared.responses).some((status) => status.startsWith('2')))
    return embeds.length === 0 ? {} : { isDeclared: true }
  const embedded = embeds.flatMap(({ plan }) => plan.columns.map((name) => plan.types[name]!))
  const hasJson = [...columns.map((name) => table.columns[name]!), ...embedded].some(({ type }) => type === 'json')
  return hasJson ? { jsonAsText: true } : {}
}

/** Makes the plan of a method. */
export function makePlan(
  { use, config, connection, operation, table, key, params }: TableUse,
  writing: Writing,
  { list, scans, references, embeds, ...options }: Omit<Parts, 'params'>,
) {
  const { columns, where, owner, version, write, set } = writing
  const location = operation === 'insert' ? findLocation({ key }, writing) : undefined
  const isSet = (name: string) => Object.hasOwn(set, name) || name === owner?.column
  const now =
    operation === 'insert' ? Object.keys(table.columns).filter((name) => table.columns[name]!.now && !isSet(name)) : []
  const types = describeColumns({ config, table }, [
    ...columns,
    ...Object.keys(where),
    ...write,
    ...Object.keys(set),
    ...now,
    ...listUpsertColumns(options.upsert),
    ...key,
    ...[...references.flatMap((one) => one.columns), ...embeds.map(({ plan }) => plan.own)].filter(
      (name) => valueTypeOf(table.columns[name]!) !== undefined,
    ),
    ...[owner, version].flatMap((one) => (one === undefined ? [] : [one.column])),
  ])
  const isWriting = ['insert', 'replace', 'update'].includes(operation)
  const isTogether = connection === 'System' && use.dispatch !== undefined && use.method !== 'GET'
  return {
    format: planFormat,
    ...(isTogether && { transaction: connection }),
    operation,
    connection,
    table: config.table,
    ...(table.schema !== undefined && { schema: table.schema }),
    types,
    columns,
    where,
    ...(owner && { owner }),
    ...(references.length > 0 && { references }),
    ...(embeds.length > 0 && { embeds: embeds.map(({ plan }) => plan) }),
    ...(version && { version }),
    key: ['list', 'insert'].includes(operation) ? [] : key.filter((name) => params.includes(name)),
    ...(isWriting && key.every((name) => columns.includes(name)) && { identity: key }),
    write,
    set,
    ...(now.length > 0 && { now }),
    ...(list && { list }),
    ...planOptions(options),
    ...(scans && { scans }),
    ...planResponses({ use, table }, columns, embeds),
    ...(location !== undefined && { location }),
  } satisfies TablePlan
}
