import type { TableSnapshot, TablesSnapshot } from '../../contract/index.ts'
import { findKey, openEditing, type Edit, type Texts, type WritableMap } from '../../definition/index.ts'
import { nearest } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { applyEdits } from './plan-route.ts'

export interface TableRequest {
  readonly connection: string
  readonly table: string
  /** The scopes of the routes; by default one that is named after the table. */
  readonly scopes?: readonly string[] | undefined
  /** The column with the id of the user to whom a row belongs. */
  readonly owner?: string | undefined
}

/** The changes to files that make a table an API. */
export interface TablePlan {
  readonly texts: Texts
  /** The name of the action with the config. */
  readonly action: string
  readonly scopes: readonly string[]
  /** For example `GET /order`. */
  readonly methods: readonly string[]
  /** New keys of waypost.yml. */
  readonly added: readonly { readonly name: string; readonly keys: readonly string[] }[]
}

/**
 * Plans an action of the class `sql-table` and its routes.
 * @throws WP_PROJECT_GENERATE
 */
export function planTable(
  { root, texts: before }: { readonly root: string; readonly texts: Texts },
  request: TableRequest,
  snapshot: TablesSnapshot | undefined,
): TablePlan {
  const table = findTable(request, snapshot)
  assertOwner(request, table)
  const resource = nameResource(request.table)
  const action = resource.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())
  const scopes = request.scopes ?? [resource]
  const editing = openEditing(root, { texts: before })
  const taken = findKey(editing, ['action', action])
  if (taken !== undefined) {
    const problem = `The action "${action}" already exists at ${taken.file}:${taken.line}`
    throw errors.WP_PROJECT_GENERATE({ problem, hint: 'Remove it, or write the API of the table by hand.' })
  }
  const edits: Edit[] = [
    { keys: ['action', action], value: { class: 'sql-table', config: makeConfig(request, table) } },
  ]
  const added = [{ name: `action ${action}`, keys: ['action', action] }]
  const methods: string[] = []
  for (const { path, names, file } of makeRoutes(resource, table)) {
    const keys = ['routes', path]
    edits.push({ keys, value: { scopes, methods: Object.fromEntries(names.map((name) => [name, { action }])) }, file })
    added.push({ name: path, keys })
    methods.push(...names.map((name) => `${name} ${path}`))
  }
  return { texts: applyEdits(editing, edits), action, scopes, methods, added }
}

function findTable({ connection, table: name }: TableRequest, snapshot: TablesSnapshot | undefined): TableSnapshot {
  const again = `npx waypost migrate --connection=${connection}`
  if (snapshot === undefined) {
    const problem = `The tables of the connection "${connection}" are not known`
    throw errors.WP_PROJECT_GENERATE({ problem, hint: `Run: ${again}` })
  }
  if (Object.hasOwn(snapshot.tables, name)) return snapshot.tables[name]!
  const names = Object.keys(snapshot.tables)
  const guess = nearest(name, names)
  const known = names.length === 0 ? 'it has none yet' : `it has ${names.join(', ')}`
  const hint = guess === undefined ? `If the table is new, run: ${again}` : `Did you mean "${guess}"?`
  throw errors.WP_PROJECT_GENERATE({ problem: `"${connection}" has no table "${name}": ${known}`, hint })
}

function assertOwner({ owner, table: name }: TableRequest, table: TableSnapshot): void {
  if (owner === undefined || Object.hasOwn(table.columns, owner)) return
  const names = Object.keys(table.columns)
  const guess = nearest(owner, names)
  const hint = guess === undefined ? `Its columns are ${names.join(', ')}.` : `Did you mean "${guess}"?`
  throw errors.WP_PROJECT_GENERATE({ problem: `The table "${name}" has no column "${owner}"`, hint })
}

/** `app_order_item` becomes `order-item`. */
function nameResource(table: string): string {
  const name = table
    .toLowerCase()
    .replace(/^app_(?=.)/, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  return name === '' ? 'row' : name
}

const createdNames = ['insert_date', 'inserted_at', 'created_at', 'create_date', 'created']
const changedNames = ['update_date', 'updated_at', 'change_date', 'changed_at', 'modified_at']

function makeConfig({ connection, table: name, owner }: TableRequest, table: TableSnapshot): WritableMap {
  const timeOf = (names: readonly string[]) => names.find((one) => table.columns[one]?.type === 'timestamp')
  const [created, changed] = [timeOf(createdNames), timeOf(changedNames)]
  const isVersioned = ['integer', 'bigint'].includes(table.columns['version']?.type ?? '')
  const { key = [], index = [] } = table
  const columns = [...new Set([...key, ...Object.keys(table.columns)])].filter(
    (column) => column !== owner && table.columns[column]!.type !== 'other',
  )
  const now = '$now'
  // A list in this order without an index would read the whole table.
  const isSorted = index.some((one) => one[one[0] === owner ? 1 : 0] === created)
  const isGiven = (column: string) => {
    const { type, default: hasDefault, generated } = table.columns[column]!
    return type !== 'id' && !hasDefault && !generated
  }
  const computed = new Set([created, changed, isVersioned ? 'version' : undefined])
  // Callers of a table whose key is not generated choose it.
  const write = key.some((column) => column !== owner && isGiven(column))
    ? columns.filter((column) => !computed.has(column) && !table.columns[column]!.generated)
    : undefined
  return {
    ...(connection === 'System' ? {} : { connection }),
    table: name,
    columns,
    ...(write === undefined || table.view ? {} : { write }),
    ...(owner === undefined ? {} : { owner }),
    ...(created === undefined ? {} : { set: { [created]: now, ...(changed && { [changed]: now }) } }),
    ...(changed === undefined ? {} : { set_on_update: { [changed]: now } }),
    ...(isVersioned && table.view === undefined ? { version: 'version' } : {}),
    ...(created === undefined || !isSorted ? {} : { sort: [`-${created}`, ...key.map((one) => `-${one}`)] }),
  }
}

interface PlannedRoute {
  readonly path: string
  readonly names: readonly string[]
  /** Its file, if each route of the project has its own. */
  readonly file: string
}

/** The list, and the rows if one column identifies them. */
function makeRoutes(resource: string, { view, key = [] }: TableSnapshot): readonly PlannedRoute[] {
  const folder = `resources/routes/${resource}`
  const list = { path: `/${resource}`, names: view ? ['GET'] : ['GET', 'POST'], file: `${folder}/collection.yml` }
  if (key.length !== 1) return [list]
  const names = view ? ['GET'] : ['GET', 'PUT', 'PATCH', 'DELETE']
  return [list, { path: `/${resource}/:${key[0]}`, names, file: `${folder}/entity.yml` }]
}
