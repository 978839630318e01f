import type { Annotated } from './rename.ts'

/** A table of a connection. */
export interface TableName {
  readonly connection: string
  readonly table: string
}

/** A reference to a table. */
export interface Referring {
  readonly columns: readonly string[]
  /** The table that refers, in the same connection. */
  readonly table: string
}

/** A name in a config that is a column of another table, with what precedes the name of the column. */
export interface OtherColumn {
  readonly of: Annotated
  readonly column: string
  readonly prefix: string
}

/**
 * Returns the names in a config that are columns of a table because an object in it names an action of that table, or, without
 * an action, a column that refers to it: `columns`, `sort` and `by` of an embed, and filters such as `author.name`.
 * @param ownTables those that the config itself names
 */
export function findOtherColumns(
  names: readonly Annotated[],
  wanted: TableName & { readonly referring?: readonly Referring[] | undefined },
  { tableOf, ownTables }: { tableOf(action: string): TableName | undefined; readonly ownTables: readonly TableName[] },
): readonly OtherColumn[] {
  const isWanted = (one: TableName | undefined) => one?.connection === wanted.connection && one.table === wanted.table
  const actions = names.filter((one) => one.names === 'action' && !one.isKey)
  const isOwn = ownTables.some(isWanted)
  const bys = names.filter(({ other }) => other === 'either')
  const refers = ({ name }: Annotated) =>
    (wanted.referring ?? []).some(
      ({ table, columns }) =>
        columns.join() === name && ownTables.some((own) => own.connection === wanted.connection && own.table === table),
    )
  /** Whether the rows that an object embeds are those of the table. */
  const isOfTable = (isPart: (keys: readonly string[]) => boolean) => {
    const action = actions.find(({ keys }) => isPart(keys))
    if (action !== undefined) return isWanted(tableOf(action.name))
    return bys.some((by) => isPart(by.keys) && refers(by))
  }
  return names.flatMap((of): readonly OtherColumn[] => {
    if (of.names === 'filter') return toFilter(of, isOfTable)
    if (of.other === undefined) return []
    if (of.other === 'either') {
      const action = actions.find(({ keys }) => isInside(of.keys, keys.slice(0, -1)))
      const isOfAction = action !== undefined && isWanted(tableOf(action.name))
      return isOfAction || isOwn ? [{ of, column: of.name, prefix: '' }] : []
    }
    if (!isOfTable((keys) => isInside(of.keys, keys.slice(0, -1)))) return []
    const prefix = of.other === 'sort' && of.name.startsWith('-') ? '-' : ''
    return [{ of, column: of.name.slice(prefix.length), prefix }]
  })
}

/** A filter such as `author.name` is a column of the rows that the object `author` embeds. */
function toFilter(
  of: Annotated,
  isOfTable: (isPart: (keys: readonly string[]) => boolean) => boolean,
): readonly OtherColumn[] {
  const dot = of.name.indexOf('.')
  if (dot === -1 || !isOfTable((keys) => keys.at(-2) === of.name.slice(0, dot))) return []
  return [{ of, column: of.name.slice(dot + 1), prefix: of.name.slice(0, dot + 1) }]
}

function isInside(keys: readonly string[], object: readonly string[]): boolean {
  return keys.length > object.length && object.every((key, index) => keys[index] === key)
}
