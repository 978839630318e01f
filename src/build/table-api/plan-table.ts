import type { TableSnapshot, TablesSnapshot } from '../../contract/index.ts'
import {
  findKey,
  type Edit,
  type Editing,
  type HttpMethod,
  type Texts,
  type WritableMap,
} from '../../definition/index.ts'
import { nearest } from '../../kit/index.ts'
import { applyEdits, GenerateRefused, publicRate, publicRateValue } from './generate.ts'
import { makeTableConfig } from './table-config.ts'
import type { TableMethod, TableRequest } from './table-request.ts'

/** The changes to files that make a table an API. */
export interface TablePlan {
  readonly texts: Texts
  /** The name of the action with the config. */
  readonly action: string
  readonly scopes: readonly string[]
  /** For example `GET /order`. */
  readonly methods: readonly string[]
  /** The index that the list needs and that the table lacks. */
  readonly index: readonly string[] | undefined
  /** New keys of waypost.yml. */
  readonly added: readonly { readonly name: string; readonly keys: readonly string[] }[]
}

/**
 * Plans an action of the class `sql-table` and its routes.
 * @param columns the order of its columns, if it is known
 * @throws GenerateRefused, WP_DEFINITION_EDIT_REFUSED
 */
export function planTable(
  editing: Editing,
  request: TableRequest,
  { snapshot, columns }: { readonly snapshot: TablesSnapshot | undefined; readonly columns?: readonly string[] },
): TablePlan {
  const table = findTable(request, snapshot)
  assertColumn(request.owner, request, table)
  assertColumn(request.softDelete?.column, request, table)
  for (const column of request.openParents ?? []) assertColumn(column, request, table)
  const path = request.path ?? `/${nameResource(request.table)}`
  const resource = nameResource(path)
  const action = resource.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())
  const scopes = request.scopes ?? [resource]
  const { config, index } = makeTableConfig({ ...request, path }, table, columns)
  const routes = makeRoutes({ ...request, path, scopes, action }, table)
  // Subscribers get the rows of all users, which tokens for the routes do not.
  const eventScope =
    request.event !== undefined && request.event.scopes === undefined && request.owner !== undefined
      ? `${scopes[0] ?? resource}.events`
      : undefined
  const declaresScopes = request.newScopes !== undefined || findKey(editing, ['scope']) !== undefined
  const rates = routes.some(({ needsRate }) => needsRate) ? [publicRate] : []
  const adds: readonly Addition[] = [
    ...(eventScope === undefined || !declaresScopes
      ? []
      : [{ name: `scope ${eventScope}`, keys: ['scope', eventScope], value: eventScopeValue, isShared: true }]),
    ...Object.entries(request.newScopes ?? {}).map(([name, description]) => ({
      name: `scope ${name}`,
      keys: ['scope', name],
      value: description === '' ? {} : { description },
    })),
    ...rates.map((name) => ({ name: `rate ${name}`, keys: ['rate', name], value: publicRateValue, isShared: true })),
    ...describeEvent(editing, request, { resource, scopes, holders: eventScope }),
    { name: `action ${action}`, keys: ['action', action], value: { class: 'sql-table', config } },
    ...routes.map(({ path: name, value, file }) => ({ name, keys: ['routes', name], value, file })),
  ]
  const missing = adds.filter((one) => !assertFree(editing, one))
  return {
    texts: applyEdits(editing, missing),
    action,
    scopes,
    methods: routes.flatMap(({ path: name, methods }) => methods.map((method) => `${method} ${name}`)),
    index,
    added: missing,
  }
}

const eventScopeValue: WritableMap = { description: 'Receives events about the rows of all users' }

interface Addition extends Edit {
  /** For output. */
  readonly name: string
  /** Whether an existing entry is used. */
  readonly isShared?: boolean
}

/** Whether an entry exists that the API shares. @throws GenerateRefused if it cannot be shared */
function assertFree(editing: Editing, { name, keys, isShared }: Addition): boolean {
  const taken = findKey(editing, keys)
  if (taken === undefined || isShared) return taken !== undefined
  const kind = keys[0] === 'routes' ? `The route "${name}"` : `The ${keys[0]} "${keys[1]}"`
  const hint =
    keys[0] === 'action' || keys[0] === 'routes' ? 'Choose another path, or remove it.' : 'Choose another name.'
  throw new GenerateRefused({ problem: `${kind} already exists at ${taken.file}:${taken.line}`, hint })
}

function describeEvent(
  editing: Editing,
  { event, methods }: TableRequest,
  {
    resource,
    scopes,
    holders: given,
  }: { readonly resource: string; readonly scopes: readonly string[]; readonly holders: string | undefined },
): readonly Addition[] {
  if (event === undefined) return []
  const access = methods?.find(({ method }) => method === 'POST')?.access ?? scopes
  const holders = event.scopes ?? (given !== undefined ? [given] : access === 'public' ? scopes : access)
  const description =
    event.description === undefined || event.description === '' ? `A row was added to ${resource}` : event.description
  const schemaName = event.name.replaceAll(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9])/g, (_, first: string) =>
    first.toUpperCase(),
  )
  // A schema of this name may be something else.
  const isNamed = event.schema !== undefined && findKey(editing, ['schema', schemaName]) === undefined
  const value = {
    description,
    ...(event.schema !== undefined && { schema: isNamed ? schemaName : event.schema }),
    ...(holders.length > 0 && { scopes: holders }),
  }
  return [
    ...(isNamed ? [{ name: `schema ${schemaName}`, keys: ['schema', schemaName], value: event.schema }] : []),
    { name: `event ${event.name}`, keys: ['event', event.name], value },
  ]
}

function findTable({ connection, table: name }: TableRequest, snapshot: TablesSnapshot | undefined): TableSnapshot {
  const again = `npx waypost migrate --connection=${connection}`
  if (snapshot === undefined) {
    const problem = `The tables of the connection "${connection}" are not known`
    throw new GenerateRefused({ problem, hint: `Run: ${again}` })
  }
  if (Object.hasOwn(snapshot.tables, name)) return snapshot.tables[name]!
  const names = Object.keys(snapshot.tables)
  const guess = nearest(name, names)
  const known = names.length === 0 ? 'it has none yet' : `it has ${names.join(', ')}`
  const hint = guess === undefined ? `If the table is new, run: ${again}` : `Did you mean "${guess}"?`
  throw new GenerateRefused({ problem: `"${connection}" has no table "${name}": ${known}`, hint })
}

function assertColumn(column: string | undefined, { table: name }: TableRequest, table: TableSnapshot): void {
  if (column === undefined || Object.hasOwn(table.columns, column)) return
  const names = Object.keys(table.columns)
  const guess = nearest(column, names)
  const hint = guess === undefined ? `Its columns are ${names.join(', ')}.` : `Did you mean "${guess}"?`
  throw new GenerateRefused({ problem: `The table "${name}" has no column "${column}"`, hint })
}

/** `app_order_item` and `/order/:order_id/item` become `order-item`. */
function nameResource(name: string): string {
  const resource = name
    .toLowerCase()
    .replace(/^app_(?=.)/, '')
    .replaceAll(/[:*]\w+/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  return resource === '' ? 'row' : resource
}

interface NewRoute {
  readonly path: string
  readonly methods: readonly HttpMethod[]
  readonly value: WritableMap
  readonly needsRate: boolean
  /** Its file, if each route of the project has its own. */
  readonly file: string
}

type RoutesRequest = TableRequest & {
  readonly path: string
  readonly scopes: readonly string[]
  readonly action: string
}

const allMethods: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The list, and the rows if one column identifies them. */
function makeRoutes(request: RoutesRequest, { view, key = [] }: TableSnapshot): readonly NewRoute[] {
  const { path, methods = allMethods.map((method): TableMethod => ({ method })) } = request
  const possible = {
    list: view ? ['GET'] : ['GET', 'POST'],
    row: key.length !== 1 ? [] : view ? ['GET'] : ['GET', 'PUT', 'PATCH', 'DELETE'],
  }
  const wrong = methods.find(({ method, at }) => at !== undefined && !possible[at].includes(method))
  if (wrong !== undefined) {
    const problem = `${wrong.method} is not possible for a ${wrong.at} of "${request.table}"`
    throw new GenerateRefused({
      problem,
      hint: 'Views are read-only, and methods for one row require a key of one column.',
    })
  }
  const places = [
    { at: 'list' as const, path, file: 'collection.yml' },
    { at: 'row' as const, path: `${path}/:${key[0]}`, file: 'entity.yml' },
  ]
  return places.flatMap((place) => {
    const own = methods.filter(({ method, at = place.at }) => at === place.at && possible[at].includes(method))
    const file = `resources/routes/${nameResource(path)}/${place.file}`
    return own.length === 0 ? [] : [{ path: place.path, file, ...describeRoute(request, own) }]
  })
}

function describeRoute(
  { scopes, action, event }: RoutesRequest,
  own: readonly TableMethod[],
): Omit<NewRoute, 'path' | 'file'> {
  const accesses = own.map(({ access = scopes }) => access)
  const texts = new Set(accesses.filter((access) => access !== 'public').map((access) => JSON.stringify(access)))
  const isUniform = texts.size === 1
  const needsRate = (one: TableMethod) => one.access === 'public' && one.method !== 'GET'
  const describe = (one: TableMethod, index: number): WritableMap => {
    const access = accesses[index]!
    return {
      ...(access === 'public' ? { public: true } : isUniform ? {} : { scopes: access }),
      ...(needsRate(one) && { rate: publicRate }),
      action,
      ...(one.method === 'POST' && event !== undefined && { dispatch: event.name }),
    }
  }
  return {
    methods: own.map(({ method }) => method),
    needsRate: own.some(needsRate),
    value: {
      ...(isUniform && { scopes: accesses.find((access) => access !== 'public') as readonly string[] }),
      methods: Object.fromEntries(own.map((one, index) => [one.method, describe(one, index)])),
    },
  }
}
