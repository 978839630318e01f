import {
  CreateTableNode,
  OperationNodeTransformer,
  RawNode,
  sql,
  type ColumnDefinitionNode,
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type QueryId,
  type RootOperationNode,
} from 'kysely'
import { columnTypes } from '../sql/column-types.ts'
import type { AnyDatabase } from './migration-table.ts'

/**
 * Makes keys of the type `id` that migrations create on SQLite auto-increment, as those of PostgreSQL do: otherwise a new row
 * gets the id of the last one that was deleted, and links and versions of that row would be valid for the new one.
 */
export const idsAreNotReused: KyselyPlugin = {
  transformQuery: ({ node, queryId }: PluginTransformQueryArgs): RootOperationNode => {
    return CreateTableNode.is(node) && mayAutoIncrement(node) ? new IdTransformer().transformNode(node, queryId) : node
  },
  transformResult: async ({ result }) => result,
}

/** A temporary table keeps its ids apart, and one without row ids has none. */
function mayAutoIncrement({ temporary, endModifiers = [] }: CreateTableNode): boolean {
  const end = endModifiers.filter(RawNode.is).flatMap(({ sqlFragments }) => sqlFragments)
  return temporary !== true && !/\bwithout\s+rowid\b/i.test(end.join(' '))
}

const idType = JSON.stringify(columnTypes('sqlite').id.toOperationNode())

class IdTransformer extends OperationNodeTransformer {
  protected override transformColumnDefinition(node: ColumnDefinitionNode, id?: QueryId): ColumnDefinitionNode {
    const changed = super.transformColumnDefinition(node, id)
    const isId = node.primaryKey === true && JSON.stringify(node.dataType) === idType
    return isId ? { ...changed, autoIncrement: true } : changed
  }
}

/** The last id that each table has given, by name. */
export type LastIds = ReadonlyMap<string, number>

/** SQLite creates its table of them with the first table that auto-increments; temporary tables have another one. */
export async function loadLastIds(db: AnyDatabase): Promise<LastIds> {
  const exists = sql<{ one: number }>`select 1 as one from main.sqlite_schema where name = 'sqlite_sequence'`
  if ((await exists.execute(db)).rows.length === 0) return new Map()
  const { rows } = await sql<{ name: string; seq: number }>`select name, seq from main.sqlite_sequence`.execute(db)
  return new Map(rows.map(({ name, seq }) => [name, seq]))
}

/** Restores the last ids of tables that were built again: the copied rows may not have the last one. */
export async function keepLastIds(db: AnyDatabase, before: LastIds): Promise<void> {
  if (before.size === 0) return
  const after = await loadLastIds(db)
  for (const [name, last] of before) {
    if ((after.get(name) ?? 0) >= last) continue
    await sql`update main.sqlite_sequence set seq = ${last} where name = ${name}`.execute(db)
    if (after.has(name)) continue
    // A table without rows has no entry yet, and one that does not auto-increment must not have one.
    await sql`
      insert into main.sqlite_sequence (name, seq) select name, ${last} from main.sqlite_schema
      where type = 'table' and name = ${name} and lower(sql) glob '*autoincrement*'`.execute(db)
  }
}
