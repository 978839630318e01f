import type { Annotated } from './rename.ts'

/** A table of a connection. */
export interface TableName {
  readonly connection: string
  readonly table: string
}

/** A name in a config that is a column of another table, with what precedes the name of the column. */
export interface OtherColumn {
  readonly of: Annotated
  readonly column: string
  readonly prefix: string
}

/**
 * Returns the names in a config that are columns of a table because an object in it names an action of that table: `columns`,
 * `sort` and `by` of an embed, and filters such as `author.name`.
 * @param ownTables those that the config itself names
 */
export function findOtherColumns(
  names: readonly Annotated[],
  wanted: TableName,
  { tableOf, ownTables }: { tableOf(action: string): TableName | undefined; readonly ownTables: readonly TableName[] },
): readonly OtherColumn[] {
  const isWanted = (one: TableName | undefined) => one?.connection === wanted.connection && one.table === wanted.table
  const actions = names.filter((one) => one.names === 'action' && !one.isKey)
  const isOwn = ownTables.some(isWanted)
  const isOfAction = (of: Annotated | undefined) => of !== undefined && isWanted(tableOf(of.name))
  return names.flatMap((of): readonly OtherColumn[] => {
    if (of.names === 'filter') return toFilter(of, actions, isOfAction)
    if (of.other === undefined) return []
    const beside = actions.find(({ keys }) => isInside(of.keys, keys.slice(0, -1)))
    if (!isOfAction(beside) && !(of.other === 'either' && isOwn)) return []
    const prefix = of.other === 'sort' && of.name.startsWith('-') ? '-' : ''
    return [{ of, column: of.name.slice(prefix.length), prefix }]
  })
}

/** A filter such as `author.name` is a column of the action in the object `author`. */
function toFilter(
  of: Annotated,
  actions: readonly Annotated[],
  isOfAction: (action: Annotated | undefined) => boolean,
): readonly OtherColumn[] {
  const dot = of.name.indexOf('.')
  const inObject = actions.find(({ keys }) => keys.at(-2) === of.name.slice(0, dot))
  if (dot === -1 || !isOfAction(inObject)) return []
  return [{ of, column: of.name.slice(dot + 1), prefix: of.name.slice(0, dot + 1) }]
}

function isInside(keys: readonly string[], object: readonly string[]): boolean {
  return keys.length > object.length && object.every((key, index) => keys[index] === key)
}
