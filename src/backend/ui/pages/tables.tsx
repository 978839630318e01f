import { Button, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call, type Entry } from '../api/call.ts'
import { tablesQuery } from '../api/definition.ts'
import { State } from '../components/badge.tsx'
import { DataTable } from '../components/data-table.tsx'
import { Users } from '../components/definition-parts.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { listLocally } from '../components/local-list.ts'
import { PageHeader } from '../components/page-header.tsx'
import { PlainTable } from '../components/plain-table.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { RelativeTime } from '../components/time.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { useCanEdit, useServerDraft } from '../edit/draft.ts'
import { buildTexts as build } from '../components/definition-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { tablesTexts as texts } from './table-texts.ts'

type Table = Entry<'GET /table'>
type Migration = Entry<'GET /migration'>

const lists = {
  textOf: ({ name, connection, columns, used_by: users }: Table) =>
    [name, connection, ...columns.map((one) => one.name), ...users].join(' '),
  sorts: { name: ({ name, connection }: Table) => `${name} ${connection}` },
}

export function Page() {
  const canEdit = useCanEdit()
  const canRead = useHasScope('backend.read')
  const hasRows = useHasScope('backend.data')
  const isServer = useServerDraft() !== undefined
  const queries = useQueryClient()
  return (
    <>
      <PageHeader
        title={pageTitles.tables}
        text={texts.text}
        action={
          canEdit ? (
            <Button renderRoot={(props) => <Link to="/tables/$name" params={{ name: 'new' }} {...props} />}>
              {build.newTable}
            </Button>
          ) : undefined
        }
      >
        {canRead ? (
          <Button
            variant="default"
            renderRoot={(props) => <Link to="/tables/$name" params={{ name: 'diagram' }} {...props} />}
          >
            {pageTitles.diagram}
          </Button>
        ) : null}
      </PageHeader>
      <div className="stack-wide">
        <DataTable
          label={pageTitles.tables}
          queryKey={['table', 'list']}
          load={async (query) => listLocally((await queries.query(tablesQuery)).entry, query, lists)}
          columns={[
            {
              name: 'name',
              label: texts.name,
              isSortable: true,
              render: ({ name, view }) => (
                <>
                  <bdi translate="no">{name}</bdi> {view ? <State tone="quiet">{texts.view}</State> : null}
                </>
              ),
            },
            {
              name: 'connection',
              label: texts.connection,
              render: ({ connection }) => <bdi translate="no">{connection}</bdi>,
            },
            {
              name: 'key',
              label: texts.key,
              isMinor: true,
              render: ({ key }) => <bdi translate="no">{key.join(', ')}</bdi>,
            },
            {
              name: 'users',
              label: build.usedBy,
              render: ({ used_by: users }) => <Users uses={users} limit={3} none={build.onlyCode} />,
            },
            {
              name: 'columns',
              label: texts.columns,
              isRight: true,
              render: ({ columns }) => build.number(columns.length),
            },
            ...(hasRows
              ? [
                  {
                    name: 'rows',
                    label: pageTitles.rows,
                    render: ({ name, connection }: Table) => (
                      <Link to="/tables/$name/rows" params={{ name: `${connection}.${name}` }}>
                        {texts.showRows}
                      </Link>
                    ),
                  },
                ]
              : []),
          ]}
          filters={[{ name: 'search', label: build.search }]}
          defaultSort="name"
          rowKey={({ name, connection }) => `${connection}.${name}`}
          rowLink={({ name, connection }) => ({
            to: canRead ? '/tables/$name' : '/tables/$name/rows',
            params: { name: `${connection}.${name}` },
          })}
          empty={
            <EmptyState
              title={texts.empty}
              text={canEdit ? (isServer ? texts.emptyDraft : texts.emptyDev) : texts.emptyText}
            />
          }
        />
        {hasRows ? null : <p className="note">{texts.rows}</p>}
        {canRead ? <Migrations /> : null}
      </div>
    </>
  )
}

const tones = { applied: 'good', pending: 'warn', edited: 'bad', unknown: 'warn' } as const

function Migrations() {
  const { data, error, isError, refetch } = useQuery({
    queryKey: ['migration'],
    queryFn: ({ signal }) => call('GET /migration', {}, signal),
  })
  return (
    <section>
      <h2>{texts.migrations}</h2>
      {isError ? <ProblemAlert error={error} onRetry={() => void refetch()} /> : null}
      {data === undefined && !isError ? <Skeleton height={96} /> : null}
      {data?.problems.map(({ connection, problem }) => (
        <p key={connection} className="warnings">
          {texts.unreadableText(connection, problem)}
        </p>
      ))}
      {data?.entry.length === 0 ? <p className="soft">{texts.noMigrations}</p> : null}
      {data === undefined || data.entry.length === 0 ? null : (
        <PlainTable<Migration>
          label={texts.migrations}
          rows={data.entry.toReversed()}
          rowKey={({ connection, name }) => `${connection}/${name}`}
          columns={[
            {
              name: 'name',
              label: texts.migration,
              render: ({ name }) => (
                <bdi translate="no" className="mono">
                  {name}
                </bdi>
              ),
            },
            {
              name: 'connection',
              label: texts.connection,
              render: ({ connection }) => <bdi translate="no">{connection}</bdi>,
            },
            {
              name: 'kind',
              label: texts.kind,
              isMinor: true,
              render: ({ declared, breaking }) => (
                <>
                  {declared ? texts.declared : texts.code}{' '}
                  {breaking.length === 0 ? null : <State tone="warn">{texts.breaking}</State>}
                </>
              ),
            },
            {
              name: 'state',
              label: texts.state,
              render: ({ state }) =>
                state === null ? (
                  <span className="soft">{texts.unreadable}</span>
                ) : (
                  <State tone={tones[state]}>{texts.states[state]}</State>
                ),
            },
            {
              name: 'at',
              label: texts.appliedAt,
              render: ({ applied_at: at }) => (at === null ? null : <RelativeTime value={at} />),
            },
          ]}
        />
      )}
    </section>
  )
}
