import { sql, type Kysely } from 'kysely'
import type { ConnectionRegistry, ConnectionSet } from '../../connection/index.ts'
import type { DatabaseKind, Databases, TableSnapshot, TablesSnapshot } from '../../contract/index.ts'
import { makeDispatcher } from '../../events/index.ts'
import { findDatabases, makeHostServices, silentLog, type Host, type LoadPlugins } from '../../host/index.ts'
import { findActiveManifest, listHostTables } from '../../operate/index.ts'
import type { PluginSet } from '../../plugin/index.ts'
import {
  listActivations,
  loadActiveId,
  loadArtifacts,
  type Manifest,
  type ManifestAction,
} from '../../release/index.ts'
import { makeCallable, makeSchemaCache, type ContextSources } from '../../runtime/index.ts'
import { errors } from './errors.ts'
import { describeRows, rowOperations, type DescribedRowMethod } from './describe-rows.ts'
import { RowTable, type RowMethod, type RowTableOptions } from './row-table.ts'

/** The rows of the tables that the active release knows. */
export interface Rows {
  /** @throws WP_BACKEND_TABLE_UNKNOWN */
  table(connection: string, name: string): Promise<RowTable>
  /** The tables of a connection, by name. */
  tablesOf(connection: string): Promise<TablesSnapshot>
  /**
   * Reserves the import of this server: each one may fill a disk.
   * @returns what frees it
   * @throws WP_BACKEND_IMPORT_BUSY
   */
  reserveImport(): () => void
  close(): Promise<void>
}

export interface RowsOptions {
  readonly host: Host
  readonly loadPlugins: LoadPlugins
  readonly registry: Pick<ConnectionRegistry, 'acquire'>
}

/** What is known of one activation of a release. */
interface Opened {
  readonly activation: string
  readonly tables: Readonly<Record<string, TablesSnapshot>>
  readonly databases: Databases
  readonly plugins: PluginSet
  readonly connections: ConnectionSet
  readonly known: Map<string, Promise<RowTable>>
}

type ManifestClassAction = Extract<ManifestAction, { readonly class: string }>

/** Tables of Waypost, also with the name of their schema. */
const ofWaypost = /(?:^|\.)waypost_/i

/** The last tables stay described: people go back and forth between a few. */
const maxTables = 50

/** Opens the tables of the active release on first use, and again after each activation. */
export function openRows(options: RowsOptions): Rows {
  const { host } = options
  let opened: Promise<Opened> | undefined
  let isImporting = false
  let closing: Promise<unknown> = Promise.resolve()
  const closeOpened = async (one: Promise<Opened> | undefined) =>
    (await one?.catch(() => undefined))?.connections.release()
  const open = async (): Promise<Opened> => {
    const activation = await findActivation(host)
    const before = opened
    if ((await before?.catch(() => undefined))?.activation === activation) return before!
    if (before !== opened) return open() // another request was faster
    opened = openTables(options, activation)
    closing = Promise.allSettled([closing, closeOpened(before)])
    return opened
  }
  return {
    tablesOf: async (connection) => {
      const { tables } = await open()
      return Object.hasOwn(tables, connection) ? tables[connection]! : { tables: {} }
    },
    async table(connection, name) {
      const { known, ...rest } = await open()
      const key = JSON.stringify([connection, name])
      const found = known.get(key)
      if (found !== undefined) return found
      const made = makeTable(options, rest, { connection, name })
      if (known.size >= maxTables) known.delete(known.keys().next().value!)
      known.set(key, made)
      made.catch(() => known.delete(key))
      return made
    },
    reserveImport() {
      if (isImporting) throw errors.WP_BACKEND_IMPORT_BUSY()
      isImporting = true
      return () => (isImporting = false)
    },
    async close() {
      await closing
      await closeOpened(opened)
    },
  }
}

/** Names the last activation of the active release: the same release may be activated again with other files. */
async function findActivation({ system }: Host): Promise<string> {
  const id = await loadActiveId(system)
  const [last] = id === undefined ? [] : await listActivations(system, id, 1)
  return `${id} ${last?.number}`
}

async function openTables({ host, loadPlugins, registry }: RowsOptions, activation: string): Promise<Opened> {
  const active = await findActiveManifest(host)
  const { tables: listed } = await listHostTables(host)
  const manifest = active?.manifest ?? { plugins: [], connections: {}, artifacts: {} }
  const plugins = await loadPlugins({ manifest, artifacts: await loadPluginCode(host, active) })
  const connections = await registry.acquire(manifest.connections, plugins.connections)
  const tables = Object.entries(Object.groupBy(listed, ({ connection }) => connection)).map(([connection, own]) => {
    return [connection, { tables: Object.fromEntries(own!.map(({ name, table }) => [name, table])) }] as const
  })
  const databases = findDatabases(manifest, plugins, host.system)
  return { activation, tables: Object.fromEntries(tables), databases, plugins, connections, known: new Map() }
}

async function loadPluginCode(
  { system }: Host,
  active: { readonly id: string; readonly manifest: Manifest } | undefined,
) {
  if (active === undefined || active.manifest.plugins.length === 0) return []
  return loadArtifacts(system, active, active.manifest.artifacts)
}

async function makeTable(
  { host }: RowsOptions,
  { tables, databases, plugins, connections }: Omit<Opened, 'known'>,
  { connection, name }: { readonly connection: string; readonly name: string },
): Promise<RowTable> {
  const snapshot = Object.hasOwn(tables, connection) ? tables[connection]! : undefined
  const provided = plugins.actions.get('sql-table')
  const describe = provided?.class.describe
  // The files of a release may still name the tables of a connection that it no longer has.
  const hasConnection = Object.hasOwn(databases, connection)
  const isKnown =
    hasConnection && snapshot !== undefined && Object.hasOwn(snapshot.tables, name) && !ofWaypost.test(name)
  if (!isKnown || provided === undefined || describe === undefined)
    throw errors.WP_BACKEND_TABLE_UNKNOWN({ connection, table: name })
  const kind = databases[connection]!
  const order = { name, kind, open: () => connections.get(connection).client as Kysely<never> }
  const ordered = { tables: { ...snapshot.tables, [name]: await orderColumns(snapshot.tables[name]!, order) } }
  const {
    methods: described,
    describeImport,
    ...rest
  } = describeRows(describe, { connection, name, tables: ordered, databases })
  const sources: ContextSources = {
    connections,
    dispatcher: makeDispatcher(host.system, {}),
    clock: host.clock,
    env: {} as ContextSources['env'],
  }
  const writing = { ...sources, manifest: { schemas: {} } as Manifest, schemas: makeSchemaCache(), checkResults: false }
  const services = makeHostServices(host, silentLog)(provided.by)
  const makeMethod = async (operation: string, one: DescribedRowMethod): Promise<RowMethod> => {
    if ('problem' in one) return one
    const { config, plan } = one.method.action as ManifestClassAction
    const use = { method: one.method.method, path: one.path }
    const action = await provided.class.make({ config, plan, use, databases, host: services })
    return makeCallable(writing, { name: `${operation} of ${name}`, method: one.method, action })
  }
  const made = await Promise.all(
    rowOperations.map(async (one) => [one, await makeMethod(one, described[one])] as const),
  )
  const methods = Object.fromEntries(made) as RowTableOptions['methods']
  const makeImport = (upsert: readonly string[]) => makeMethod('import', describeImport(upsert))
  return new RowTable({
    ...rest,
    methods,
    makeImport,
    required: listRequired(described.insert),
    kind,
    connection,
    name,
    sources,
    system: host.system,
  })
}

interface ColumnOrder {
  readonly name: string
  readonly kind: DatabaseKind
  /** @throws if the connection is down */
  open(): Kysely<never>
}

/** Returns a table with its columns in the order of the database, where it can be read: snapshots sort them by name. */
async function orderColumns(table: TableSnapshot, { name, kind, open }: ColumnOrder): Promise<TableSnapshot> {
  const own = table.schema === undefined ? name : name.slice(table.schema.length + 1)
  const schema = table.schema === undefined ? sql`` : sql`quote_ident(${table.schema}) || '.' || `
  const statement =
    kind === 'sqlite'
      ? sql<{ name: string }>`select name from pragma_table_xinfo(${own}) order by cid`
      : sql<{ name: string }>`select attname as name from pg_attribute
          where attrelid = to_regclass(${schema}quote_ident(${own}))
          and attnum > 0 order by attnum`
  const read = async () => statement.execute(open())
  const found = await read().catch(() => undefined)
  const names = new Map(found?.rows.map((row, index) => [row.name, index]))
  const placeOf = (column: string) => names.get(column) ?? names.size
  const columns = Object.entries(table.columns).toSorted(([a], [b]) => placeOf(a) - placeOf(b))
  return { ...table, columns: Object.fromEntries(columns) }
}

/** The columns without which a row cannot be inserted. */
function listRequired(insert: DescribedRowMethod): readonly string[] {
  const schema = 'problem' in insert ? undefined : insert.method.request
  return (schema as { readonly required?: readonly string[] } | undefined)?.required ?? []
}
