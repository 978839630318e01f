import type { Entry } from '../api/call.ts'
import type { Definition } from '../api/definition.ts'

/**
 * What a config of embedded rows names: `reference` is the column that refers to the row or to this table, `embedded` a column
 * of the embedded rows.
 */
export type EmbeddedKind = 'reference' | 'embedded'

interface Known {
  /** Those of the connection. */
  readonly tables: readonly Entry<'GET /table'>[]
  readonly actions: Definition['actions']
}

interface Embedding {
  /** The table whose rows contain them. */
  readonly table: string | undefined
  readonly from: string | undefined
  readonly by: string | undefined
}

/** Returns the columns to choose from. */
export function listEmbedded(
  kind: EmbeddedKind,
  { tables, actions }: Known,
  { table, from, by }: Embedding,
): readonly string[] {
  const own = tables.find(({ name }) => name === table)
  const action = actions.find(({ name }) => name === from)
  const ofAction = tables.find(({ name }) => name === action?.config?.['table'])
  const referred = own?.references.find(({ columns }) => columns.join() === by)
  const other = ofAction ?? tables.find(({ name }) => name === referred?.table)
  if (kind === 'embedded') return other?.columns.map(({ name }) => name) ?? []
  const toOther = (own?.references ?? []).filter((one) => ofAction === undefined || one.table === ofAction.name)
  const toOwn = (ofAction === undefined ? tables : [ofAction]).flatMap(({ references }) =>
    references.filter((one) => one.table === table),
  )
  const single = [...toOther, ...(from === undefined ? [] : toOwn)].filter(({ columns }) => columns.length === 1)
  return [...new Set(single.map(({ columns }) => columns[0]!))]
}
