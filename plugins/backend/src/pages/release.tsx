import { Button, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { ChangeList } from '../components/change-list.tsx'
import { CopyText } from '../components/copy.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { shortId } from '../components/release-link.tsx'
import { RollBackDialog } from '../components/roll-back-dialog.tsx'
import { RelativeTime } from '../components/time.tsx'
import { strings } from '../strings.ts'

const { release: texts, releases: listTexts } = strings

export function Page() {
  const { id = '' } = useParams({ strict: false })
  const [isAsking, setAsking] = useState(false)
  const queries = useQueryClient()
  const release = useQuery({
    queryKey: ['release', id],
    queryFn: ({ signal }) => call('GET /release/:id', { params: { id } }, signal),
  })
  const listed = useQuery({
    queryKey: ['release', 'list'],
    queryFn: ({ signal }) => call('GET /release', {}, signal),
  })
  const active = listed.data?.entry.find((one) => one.is_active)?.id
  const isActive = active === release.data?.id
  if (release.isError) return <ProblemAlert error={release.error} onRetry={() => void release.refetch()} />
  return (
    <>
      <PageHeader
        title={`${texts.title} ${shortId(id)}`}
        text={release.data?.message ?? undefined}
        mode={strings.mode.atOnce}
        action={
          active === undefined || isActive ? undefined : (
            <Button onClick={() => setAsking(true)}>{listTexts.rollBackTo(shortId(id))}</Button>
          )
        }
      />
      {release.data === undefined ? (
        <Skeleton height={96} />
      ) : (
        <div className="stack">
          <dl className="facts">
            <dt>{texts.id}</dt>
            <dd>
              <CopyText value={release.data.id} isMono label={texts.id} />
            </dd>
            <dt>{texts.created}</dt>
            <dd>
              <RelativeTime value={release.data.created_at} /> {texts.by} <bdi>{release.data.created_by}</bdi>
            </dd>
            <dt>{texts.version}</dt>
            <dd>{release.data.waypost}</dd>
          </dl>
          <section>
            <h2>{texts.activations}</h2>
            <ul className="rows">
              {release.data.activations.map(({ kind, activated_at: at, activated_by: by, message }) => (
                <li key={at}>
                  <span>{kind === 'rollback' ? listTexts.rollback : listTexts.deploy}</span>
                  <bdi>{by}</bdi>
                  <bdi className="soft">{message}</bdi>
                  <RelativeTime value={at} />
                </li>
              ))}
            </ul>
          </section>
          {active === undefined || isActive ? null : <Difference from={active} to={release.data.id} />}
        </div>
      )}
      {isAsking ? (
        <RollBackDialog
          id={id}
          onClose={() => setAsking(false)}
          onDone={() => queries.invalidateQueries({ queryKey: ['release'] })}
        />
      ) : null}
    </>
  )
}

function Difference({ from, to }: { readonly from: string; readonly to: string }) {
  const changes = useQuery({
    queryKey: ['release', from, 'diff', to],
    queryFn: ({ signal }) => call('GET /release/:id/diff/:other', { params: { id: from, other: to } }, signal),
  })
  return (
    <section>
      <h2>{texts.difference}</h2>
      {changes.isError ? <ProblemAlert error={changes.error} /> : null}
      {changes.data === undefined ? null : <ChangeList changes={changes.data.changes} />}
    </section>
  )
}
