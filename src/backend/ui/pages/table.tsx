import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Suspense } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import type { Entry } from '../api/call.ts'
import { tablesQuery } from '../api/definition.ts'
import { loadingErrorOf } from '../api/send.ts'
import { State } from '../components/badge.tsx'
import { Users } from '../components/definition-parts.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RowsButton } from '../components/rows-button.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { PlainTable } from '../components/plain-table.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { buildTexts as build } from '../components/definition-texts.ts'
import { problemTexts } from '../components/problem-texts.ts'
import { tablesTexts as texts } from './table-texts.ts'

const TableEditor = lazyPart(() => import('../editors/table.tsx'), 'TableEditor')
type Table = Entry<'GET /table'>
type Column = Table['columns'][number]

const DiagramPage = lazyPart(() => import('../diagram/diagram-page.tsx'), 'DiagramPage')
const NewTable = lazyPart(() => import('../editors/table.tsx'), 'NewTable')

export function Page() {
  const { name: full = '' } = useParams({ strict: false })
  const canEdit = useCanEdit()
  // The names of tables have a dot.
  if (full === 'diagram')
    return (
      <Suspense fallback={<Skeleton height={160} />}>
        <DiagramPage />
      </Suspense>
    )
  if (full !== 'new' || !canEdit) return <ExistingTable full={full} canEdit={canEdit} />
  return (
    <Suspense fallback={<Skeleton height={160} />}>
      <NewTable />
    </Suspense>
  )
}

function ExistingTable({ full, canEdit }: { readonly full: string; readonly canEdit: boolean }) {
  const { data, error, refetch } = useQuery(tablesQuery)
  const failure = loadingErrorOf({ data, error })
  if (failure !== undefined) return <ProblemAlert error={failure} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton height={160} />
  const table = data.entry.find(({ connection, name }) => `${connection}.${name}` === full)
  const view =
    table === undefined ? (
      <EmptyState title={problemTexts.notFound} text={texts.notFound} />
    ) : (
      <TableView table={table} />
    )
  const [, connection, name] = /^([^.]+)\.(.+)$/.exec(full) ?? []
  if (!canEdit || table?.view === true || connection === undefined || name === undefined) return view
  // While the draft has errors elsewhere, the list has no tables that are new in it.
  return (
    <Suspense fallback={<Skeleton height={160} />}>
      <TableEditor key={full} connection={connection} name={name} fallback={view}>
        {table === undefined ? null : <TableUsers table={table} />}
      </TableEditor>
    </Suspense>
  )
}

function TableUsers({ table }: { readonly table: Table }) {
  return (
    <>
      <section>
        <h2>{build.usedBy}</h2>
        <Users uses={table.used_by} none={build.onlyCode} />
      </section>
      {useHasScope('backend.data') ? null : <p className="note">{texts.rows}</p>}
    </>
  )
}

function TableView({ table }: { readonly table: Table }) {
  return (
    <>
      <PageHeader title={table.name} text={<Link to="/connections">{table.connection}</Link>}>
        <RowsButton connection={table.connection} name={table.name} />
      </PageHeader>
      <div className="stack-wide">
        <PlainTable<Column>
          label={texts.columns}
          rows={table.columns}
          rowKey={({ name }) => name}
          columns={[
            {
              name: 'name',
              label: texts.column,
              render: ({ name }) => (
                <>
                  <bdi translate="no" className="strong">
                    {name}
                  </bdi>{' '}
                  {table.key.includes(name) ? <State tone="info">{texts.key}</State> : null}
                </>
              ),
            },
            { name: 'type', label: texts.type, render: describeType },
            {
              name: 'null',
              label: texts.null,
              render: (column) => (column.null ? texts.nullable : <span className="soft">–</span>),
            },
            {
              name: 'default',
              label: texts.default,
              render: (column) =>
                column.generated ? (
                  texts.generated
                ) : column.default ? (
                  texts.hasDefault
                ) : (
                  <span className="soft">–</span>
                ),
            },
          ]}
        />
        <section>
          <h2>{texts.keys}</h2>
          <Keys table={table} />
        </section>
        <TableUsers table={table} />
      </div>
    </>
  )
}

function describeType({ type, length, as }: Column): string {
  return `${type}${length === null ? '' : `(${length})`}${as === null ? '' : ` · ${as}`}`
}

function Keys({ table: { connection, key, unique, index, references } }: { readonly table: Table }) {
  const rows = [
    ...(key.length === 0 ? [] : [{ label: texts.primary, columns: key }]),
    ...unique.map((columns) => ({ label: texts.unique, columns })),
    ...index.map((columns) => ({ label: texts.index, columns })),
  ]
  if (rows.length === 0 && references.length === 0) return <p className="soft">{build.none}</p>
  return (
    <dl className="facts">
      {rows.map(({ label, columns }) => (
        <Fact key={`${label} ${columns.join()}`} label={label}>
          <bdi translate="no">{columns.join(', ')}</bdi>
        </Fact>
      ))}
      {references.map(({ columns, table, to, on_delete: onDelete }) => (
        <Fact key={`${table} ${columns.join()}`} label={texts.reference}>
          <bdi translate="no">{columns.join(', ')}</bdi> →{' '}
          <Link to="/tables/$name" params={{ name: `${connection}.${table}` }}>
            <bdi translate="no">{table}</bdi>
          </Link>{' '}
          <bdi translate="no">({to.join(', ')})</bdi>{' '}
          {onDelete === null ? null : <span className="soft">{texts.onDelete(onDelete)}</span>}
        </Fact>
      ))}
    </dl>
  )
}

function Fact({ label, children }: { readonly label: string; readonly children: React.ReactNode }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  )
}
