import { Button, Menu, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { Suspense, useState, type ReactNode } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import { call } from '../api/call.ts'
import { definitionQuery, tablesQuery } from '../api/definition.ts'
import { loadingErrorOf } from '../api/send.ts'
import { announce } from '../components/announce.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { MoreMenu } from '../components/more-menu.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { RowsButton } from '../components/rows-button.tsx'
import { useDraftValue, useServerDraft } from '../edit/draft.ts'
import { entryTexts } from '../edit/entry-texts.ts'
import { lastSave, refreshDraft } from '../edit/save-change.ts'
import { isMap, type Json } from '../edit/values.ts'
import { useCrumbTitle } from '../shell/breadcrumbs.tsx'
import { TableDesigner } from './table-designer.tsx'
import { Consequences, Uses, writeProblem } from './table-plan.tsx'
import type { ColumnType, ReferencedTable } from './table-state.ts'
import { buildTexts as build } from '../components/definition-texts.ts'
import { apiTexts, tableEditorTexts } from './table-texts.ts'

const TableApi = lazyPart(() => import('./table-api.tsx'), 'TableApi')

function useDraftTable(connection: string, table?: string) {
  return useQuery({
    queryKey: ['draft', 'table', connection, table],
    queryFn: ({ signal }) =>
      call('GET /draft/table', { query: table === undefined ? { connection } : { connection, table } }, signal),
  })
}

function useTables() {
  return useQuery(tablesQuery).data?.entry
}

/** How often the methods that use a table were called in the last 24 hours; undefined without such methods. */
function useCalls(connection: string, table: string): number | undefined {
  const { data } = useQuery(definitionQuery)
  const users = useTables()?.find((one) => one.connection === connection && one.name === table)?.used_by ?? []
  const routes = data?.routes.filter(({ method, path }) => users.includes(`${method} ${path}`)) ?? []
  return routes.length === 0 ? undefined : routes.reduce((sum, { calls }) => sum + calls, 0)
}

function useReferencedTables(connection: string): readonly ReferencedTable[] {
  const own = useTables()?.filter((one) => one.connection === connection && !one.view) ?? []
  return own.map(({ name, key, columns }) => {
    const column = key.length === 1 ? columns.find((one) => one.name === key[0]) : undefined
    return { name, key: column && { type: column.type as ColumnType, length: column.length } }
  })
}

export function NewTable() {
  useCrumbTitle(build.newTable)
  const [connection, setConnection] = useState('System')
  const { data, error } = useDraftTable('System')
  const tables = useReferencedTables(connection)
  const navigate = useNavigate()
  const isServer = useServerDraft() !== undefined
  const failure = loadingErrorOf({ data, error })
  if (failure !== undefined) return <ProblemAlert error={failure} />
  return (
    <>
      <PageHeader title={build.newTable} text={tableEditorTexts.newText[isServer ? 'server' : 'folder']} />
      {data === undefined ? (
        <Skeleton height={240} />
      ) : (
        <TableDesigner
          connection={connection}
          connections={data.connections.map(({ name }) => name)}
          tables={tables}
          onConnection={setConnection}
          onSaved={(name) => void navigate({ to: '/tables/$name', params: { name: `${connection}.${name}` } })}
        >
          {null}
        </TableDesigner>
      )}
    </>
  )
}

interface TableEditorProps {
  readonly connection: string
  readonly name: string
  /** What is shown if the table cannot be edited. */
  readonly fallback: ReactNode
  /** Below the columns. */
  readonly children: ReactNode
}

/** The page of a table in `dev`. */
export function TableEditor({ connection, name, fallback, children }: TableEditorProps) {
  const [dialog, setDialog] = useState<'api' | 'drop'>()
  const { data, error } = useDraftTable(connection, name)
  const tables = useReferencedTables(connection)
  const calls = useCalls(connection, name)
  const navigate = useNavigate()
  const failure = loadingErrorOf({ data, error })
  if (failure !== undefined) return <ProblemAlert error={failure} />
  if (data === undefined) return <Skeleton height={240} />
  const { table, connections } = data
  if (table === null) return fallback
  const close = () => setDialog(undefined)
  return (
    <>
      <PageHeader
        title={name}
        text={<Link to="/connections">{connection}</Link>}
        action={
          <Button variant={calls === undefined ? 'filled' : 'default'} onClick={() => setDialog('api')}>
            {apiTexts.open}
          </Button>
        }
      >
        <RowsButton connection={connection} name={name} />
        <MoreMenu label={entryTexts.more}>
          <Menu.Item
            leftSection={<Trash2 size={14} aria-hidden />}
            color="var(--bad)"
            onClick={() => setDialog('drop')}
          >
            {tableEditorTexts.drop}
          </Menu.Item>
        </MoreMenu>
      </PageHeader>
      <NewColumns
        key={`${connection}.${name}`}
        connection={connection}
        name={name}
        columns={table.design.columns.map((one) => one.name)}
      />
      <TableDesigner
        connection={connection}
        connections={connections.map((one) => one.name)}
        loaded={table}
        tables={tables}
        onSaved={() => undefined}
      >
        {children}
      </TableDesigner>
      <Suspense>
        {dialog === 'api' ? (
          <TableApi
            connection={connection}
            design={table.design}
            onClose={close}
            onSaved={() => {
              close()
              void navigate({ to: '/routes' })
            }}
          />
        ) : null}
      </Suspense>
      {dialog === 'drop' ? <DropTable connection={connection} name={name} onClose={close} /> : null}
    </>
  )
}

interface DropTableProps {
  readonly connection: string
  readonly name: string
  onClose(): void
}

interface NewColumnsProps {
  readonly connection: string
  readonly name: string
  readonly columns: readonly string[]
}

/** The actions that do not list the columns that were added on this page. */
function NewColumns({ connection, name, columns }: NewColumnsProps) {
  const [before] = useState(columns)
  const actions = mapOf(useDraftValue('/action').data?.value)
  const routes = mapOf(useDraftValue('/routes').data?.value)
  const added = columns.filter((column) => !before.includes(column))
  const missingIn = (action: unknown) => {
    const settings = mapOf(mapOf(action)['config'])
    const isOfTable = settings['table'] === name && (settings['connection'] ?? 'System') === connection
    const listed: unknown = settings['columns']
    return isOfTable && Array.isArray(listed) ? added.filter((column) => !listed.includes(column)) : []
  }
  const named = Object.entries(actions).map(([action, value]) => ({
    name: action,
    link: { to: '/actions/$name', params: { name: action } } as const,
    missing: missingIn(value),
  }))
  // Actions that are defined in place.
  const inPlace = Object.entries(routes).flatMap(([path, route]) =>
    Object.entries(mapOf(mapOf(route)['methods'])).map(([method, value]) => ({
      name: `${method} ${path}`,
      link: { to: '/routes/$route', params: { route: `${method} ${path}` } } as const,
      missing: missingIn(mapOf(value)['action']),
    })),
  )
  return (
    <div role="status">
      {[...named, ...inPlace].map(({ name: action, link, missing }) =>
        missing.length === 0 ? null : (
          <p key={action} className="note new-columns">
            {tableEditorTexts.notInAction(missing)} <Link {...link}>{tableEditorTexts.openAction(action)}</Link>
          </p>
        ),
      )}
    </div>
  )
}

function mapOf(value: unknown): Json {
  return isMap(value) ? value : {}
}

/** Drops a table that nothing refers to. */
function DropTable({ connection, name, onClose }: DropTableProps) {
  const calls = useCalls(connection, name)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const body = { connection, table: name, design: null }
  const { data } = useQuery({
    queryKey: ['draft', 'migration', 'drop', connection, name],
    queryFn: ({ signal }) => call('POST /draft/migration', { body: { ...body, preview: true } }, signal),
    gcTime: 0,
  })
  const isRevert = data?.change?.text === null
  const isServer = useServerDraft() !== undefined
  return (
    <ConfirmDialog
      title={tableEditorTexts.dropTitle(name)}
      action={tableEditorTexts.dropNamed(name)}
      isDanger
      isDisabled={data === undefined || data.problems.length > 0}
      onConfirm={async () => {
        const done = await call('POST /draft/migration', { body: { ...body, preview: false } })
        const [problem] = done.problems
        if (problem !== undefined) throw new Error(writeProblem(problem))
        if (done.saved !== null)
          lastSave.set(
            done.saved,
            { entries: [{ name, fields: [] }], pages: [['tables', `${connection}.${name}`]] },
            done.can_undo,
          )
        await navigate({ to: '/tables' })
        await refreshDraft(queries)
        announce(tableEditorTexts.dropped(name))
      }}
      onClose={onClose}
    >
      <div className="stack-small">
        {calls === undefined ? null : (
          <p className={calls > 0 ? 'strong' : undefined}>{tableEditorTexts.calls(calls)}</p>
        )}
        {data === undefined ? null : data.uses.length > 0 ? <Uses uses={data.uses} /> : null}
        {data === undefined || data.problems.length > 0 ? (
          (data?.problems ?? [])
            .filter(({ pointer }) => pointer !== '/uses')
            .map((problem) => <p key={problem.message}>{writeProblem(problem)}</p>)
        ) : (
          <>
            <p>
              {isServer
                ? isRevert
                  ? tableEditorTexts.dropNew
                  : tableEditorTexts.dropStaged
                : isRevert
                  ? tableEditorTexts.dropEmpty
                  : tableEditorTexts.dropText}
            </p>
            <Consequences plan={data} />
          </>
        )}
      </div>
    </ConfirmDialog>
  )
}
