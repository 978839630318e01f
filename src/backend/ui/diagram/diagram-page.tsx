import { NativeSelect, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { call } from '../api/call.ts'
import { tablesQuery } from '../api/definition.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { Diagram } from './diagram.tsx'
import { useServerDraft } from '../edit/draft.ts'
import { useCrumbTitle } from '../shell/breadcrumbs.tsx'
import { pageTitles } from '../page-titles.ts'
import { tablesTexts } from '../pages/table-texts.ts'
import './diagram.css'

const texts = {
  text: 'Tables and their references. Columns of keys and references come first.',
  draft: 'Tables and columns that exist only in the draft are marked as new.',
} as const

export function DiagramPage() {
  useCrumbTitle(pageTitles.diagram)
  const { data, error, refetch } = useQuery(tablesQuery)
  const isServer = useServerDraft() !== undefined
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false })
  const navigate = useNavigate()
  const connections = [...new Set(data?.entry.map((one) => one.connection))]
  const connection = search['connection'] ?? (connections.includes('System') ? 'System' : connections[0])
  const tables = useMemo(() => data?.entry.filter((one) => one.connection === connection), [data, connection])
  const isAdded = useIsAdded(connection, isServer)
  return (
    <div className="diagram-page stack">
      <PageHeader title={pageTitles.diagram} text={isServer ? `${texts.text} ${texts.draft}` : texts.text}>
        {connections.length < 2 ? null : (
          <NativeSelect
            aria-label={tablesTexts.connection}
            value={connection ?? ''}
            data={connections}
            onChange={(event) => void navigate({ to: '.', search: { connection: event.currentTarget.value } })}
          />
        )}
      </PageHeader>
      {error === null ? null : <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {tables === undefined ? (
        error === null && <Skeleton height={240} />
      ) : tables.length === 0 ? (
        <EmptyState title={tablesTexts.empty} text={tablesTexts.emptyText} />
      ) : (
        <Diagram tables={tables} isAdded={isAdded} />
      )}
    </div>
  )
}

/** Compares the tables of the draft with those of the active release. */
function useIsAdded(connection: string | undefined, isServer: boolean) {
  const { data } = useQuery({
    queryKey: ['table', 'active'],
    queryFn: ({ signal }) => call('GET /table', { query: { of: 'active' } }, signal),
    enabled: isServer,
  })
  return (table: string, column?: string): boolean => {
    if (data === undefined) return false
    const active = data.entry.find((one) => one.connection === connection && one.name === table)
    return column === undefined ? active === undefined : active?.columns.every(({ name }) => name !== column) === true
  }
}
