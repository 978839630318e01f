import { findTarget } from '../embed/find-target.ts'
import type { EmbedConfig } from '../embed/embed-config.ts'
import { makePlan } from '../plan-method.ts'
import { parentParameter, type TablePlan } from '../plan.ts'
import { resolveReferences } from '../references.ts'
import { describeRequest, describeRow } from '../schemas.ts'
import { columnsForCallers, type TableUse } from '../table-use.ts'
import { resolveWriting, type Writing } from '../writing.ts'
import type { ResolvedChildren } from './describe-children.ts'

/** Finds the embeds with `write: true`, whose rows a POST inserts with the row that they refer to. */
export function resolveChildren(table: TableUse, writing: Writing): readonly ResolvedChildren[] {
  if (table.operation !== 'insert') return []
  const written = Object.entries(table.config.embed ?? {}).filter(([, { write }]) => write === true)
  if (written.length > 0) checkParent(table)
  return written.flatMap(([name, embed]) => resolveOne(name, embed, { table, writing }) ?? [])
}

function checkParent({ config, use, report }: TableUse): void {
  if (config.upsert !== undefined)
    report('/upsert', 'A row that exists cannot be inserted with its children', {
      hint: 'Remove "upsert", or "write" from "embed"',
    })
  if (Object.keys(use.declared.responses).some((status) => status.startsWith('2')))
    report(
      '/embed',
      `${use.method} ${use.path} declares its response, which does not describe a row with its children`,
      {
        hint: 'Remove the declared response, or "write" from "embed"',
      },
    )
}

interface Parent {
  readonly table: TableUse
  readonly writing: Writing
}

function resolveOne(name: string, embed: EmbedConfig, { table, writing }: Parent): ResolvedChildren | undefined {
  const { report } = table
  const at = `/embed/${name}`
  const target = findTarget(name, embed, table)
  if (target === undefined) return undefined
  const { isMany, own, other } = target
  if (!isMany || embed.from === undefined) {
    report(`${at}/write`, 'Only rows of an action that refer to this row can be inserted with it', {
      hint: 'Remove it',
    })
    return undefined
  }
  if (!writing.columns.includes(own)) {
    report(`${at}/write`, `"${own}" is not in "columns", so the rows cannot refer to it`, {
      hint: 'Add it to "columns"',
    })
    return undefined
  }
  const child = makeChildUse(target.table, other)
  const childWriting = resolveWriting(child)
  const references = resolveReferences(child, childWriting)
  const parts = {
    list: undefined,
    scans: false,
    references,
    embeds: [],
    bulk: undefined,
    upsert: undefined,
    csv: false,
  }
  const plan: TablePlan = makePlan(child, childWriting, { ...parts, children: [] })
  const columns = embed.columns ?? childWriting.columns
  const scopes = findScopes(embed.from, table)
  return {
    plan: { name, own, plan, columns, ...(scopes && { scopes }) },
    request: describeRequest(child, childWriting)!,
    row: describeRow(columns, columnsForCallers(child)),
  }
}

/** Returns how the other action would insert rows below a path with this row. */
function makeChildUse(table: TableUse, column: string): TableUse {
  const { config, params, use } = table
  const where = { ...config.where, [column]: `$params.${parentParameter}` }
  const declared = { responses: {} }
  return {
    ...table,
    config: { ...config, where },
    operation: 'insert',
    params: [...params, parentParameter],
    use: { ...use, declared },
  }
}

/** Returns the scopes of which a caller needs one to insert rows of an action; undefined if its methods need none. */
function findScopes(from: string, { use }: TableUse): readonly string[] | undefined {
  const methods = Object.hasOwn(use.methods, from) ? use.methods[from]! : []
  const inserting = methods.filter(({ method }) => method === 'POST')
  if (inserting.length === 0 || inserting.some((one) => one.public)) return undefined
  if (inserting.some(({ scopes }) => scopes.length === 0)) return use.public ? [] : undefined
  return [...new Set(inserting.flatMap(({ scopes }) => scopes))].toSorted()
}
