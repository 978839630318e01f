import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Problem } from '../api/send.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { problemTexts } from '../components/problem-texts.ts'
import { ProblemState } from '../components/problem.tsx'
import { RowsView } from '../rows/rows-view.tsx'
import { rowTexts as texts } from '../rows/row-texts.ts'
import { describeQuery } from '../rows/use-rows.ts'
import '../rows/rows.css'

export function Page() {
  const { name: full = '' } = useParams({ strict: false })
  const at = full.indexOf('.')
  const place = { connection: full.slice(0, at), table: full.slice(at + 1) }
  const { data, error, refetch } = useQuery(describeQuery(place))
  if (error instanceof Problem && error.code === 'WP_BACKEND_DATA_OFF')
    return <EmptyState isPage title={texts.off} text={error.hint} />
  if (error instanceof Problem && error.status === 404)
    return <EmptyState isPage title={problemTexts.notFound} text={`${error.message}. ${error.hint ?? ''}`} />
  if (error !== null) return <ProblemState error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton height={160} />
  return <RowsView key={full} place={place} description={data} />
}
