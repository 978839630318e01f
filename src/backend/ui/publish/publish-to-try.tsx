import { Button, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { activeQuery, nameOf } from '../api/definition.ts'
import { isReplaced, keepWithin } from '../api/keep-within.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { TryIt } from '../components/try-it.tsx'
import { pointerOf } from '../edit/values.ts'
import { useDraftStatus } from './draft-mark.tsx'
import { publishTexts as publish } from './publish-texts.ts'

const texts = {
  title: 'Publish to try',
  text: 'Try it calls the published API. This method exists only in the draft.',
  changed: 'Try it calls the published method, without the changes in the draft.',
} as const

/** The method in the active release, as it was loaded last. */
function usePublished(name: string) {
  const [method = '', path = ''] = name.split(' ')
  const queries = useQueryClient()
  // The form begins with the fields of the active release, not with those of one that was active before.
  const active = useQuery({ ...activeQuery, refetchOnMount: 'always' })
  const isPublished = active.data?.routes.some((one) => nameOf(one) === name) === true
  const id = active.data?.id ?? ''
  const found = useQuery({
    queryKey: ['method', name, id],
    enabled: isPublished,
    queryFn: ({ signal }) => call('GET /release/:id/method', { params: { id }, query: { method, path } }, signal),
    // After a publication, the form stays with what is typed into it, until the fields of the new release are known.
    placeholderData: keepWithin(['method', name]),
  })
  const [last, setLast] = useState(found.data)
  if (found.data !== undefined && found.data !== last) setLast(found.data)
  const failed = active.error === null ? found : active
  return {
    isPublished,
    /** Undefined until it is known; also while it is not known whether there is one. */
    method: active.data === undefined ? undefined : (found.data ?? last),
    isLoading: !active.isFetchedAfterMount,
    isOutdated:
      found.isPlaceholderData || found.isError || isReplaced(queries, activeQuery.queryKey, active.isFetching),
    error: failed.error,
    retry: () => void failed.refetch(),
  }
}

/** Calls the published method; one that is only in the draft must be published first. */
export function PublishToTry({ name }: { readonly name: string }) {
  const { isPublished, method: shown, isLoading, isOutdated, error, retry } = usePublished(name)
  const [method = '', path = ''] = name.split(' ')
  const status = useDraftStatus(pointerOf('routes', path, 'methods', method))
  // If a later refresh fails, the form stays with what is typed into it.
  const alert = error === null ? null : <ProblemAlert error={error} onRetry={retry} />
  if (alert !== null && shown === undefined) return alert
  if (isLoading) return <Skeleton height={160} />
  const publishLink = (
    <Button renderRoot={(props) => <Link to="/publish" {...props} />} variant={isPublished ? 'default' : 'filled'}>
      {publish.page}
    </Button>
  )
  if (!isPublished) return <EmptyState title={texts.title} text={texts.text} action={publishLink} />
  if (shown === undefined) return <Skeleton height={160} />
  return (
    <div className="stack">
      {alert}
      {status === undefined ? null : <p className="note">{texts.changed}</p>}
      <TryIt key={name} method={shown} isOutdated={isOutdated} />
    </div>
  )
}
