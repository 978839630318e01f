import { Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { call } from '../api/call.ts'
import { State } from '../components/badge.tsx'
import { ChangeList } from '../components/change-list.tsx'
import { CopyText } from '../components/copy.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { shortId } from '../components/release-link.tsx'
import { RollBackDialog, rollBackLabel } from '../components/roll-back-dialog.tsx'
import { RollBackButton, useRollbackObstacle } from '../components/rollback-obstacle.tsx'
import { RelativeTime } from '../components/time.tsx'
import { useCrumbTitle } from '../shell/breadcrumbs.tsx'
import { config } from '../config.ts'
import { useHasDraft } from '../edit/draft.ts'
import { OpenAsDraft } from '../publish/open-as-draft.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { modeTexts } from '../components/mode-texts.ts'
import { releasesTexts as listTexts } from '../components/release-texts.ts'
import { openTexts } from '../publish/publish-texts.ts'

const texts = {
  title: 'Release',
  id: 'ID',
  created: 'Created',
  by: 'by',
  version: 'Built by Waypost',
  activations: 'Last activations',
  difference: 'What activating it would change',
  since: (id: string) => `Changes since release ${id}`,
} as const

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
  const mayRollBack = useHasScope('backend.deploy')
  const canOpen = useHasDraft() && !config.isDevelopment
  const [opened, setOpened] = useState<number>()
  useCrumbTitle(shortId(id))
  const entry = listed.data?.entry ?? []
  const activeAt = entry.findIndex((one) => one.is_active)
  const active = entry[activeAt]
  const isActive = active !== undefined && active.id === release.data?.id
  const before = isActive ? entry[activeAt + 1]?.id : undefined
  const message = release.data?.message ?? ''
  const isNewer = active !== undefined && release.data !== undefined && release.data.created_at > active.created_at
  const isOffered = active !== undefined && release.data !== undefined && !isActive && mayRollBack
  const obstacle = useRollbackObstacle(isOffered ? id : undefined)
  const reasonId = useId()
  if (release.isError) return <ProblemAlert error={release.error} onRetry={() => void release.refetch()} />
  return (
    <>
      <PageHeader
        title={`${texts.title} ${shortId(id)}`}
        text={
          isActive || message !== '' ? (
            <span className="summary">
              {isActive ? <State tone="good">{listTexts.active}</State> : null}
              {message === '' ? null : <bdi>{message}</bdi>}
            </span>
          ) : undefined
        }
        mode={modeTexts.atOnce}
        action={
          isOffered ? (
            <RollBackButton
              label={rollBackLabel(id, isNewer)}
              obstacle={obstacle}
              reasonId={reasonId}
              onClick={() => setAsking(true)}
            />
          ) : undefined
        }
      />
      {isOffered && obstacle.text !== undefined ? (
        <p id={reasonId} className="warnings page-notice" dir="auto">
          {obstacle.text}
        </p>
      ) : null}
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
              {release.data.activations.map(
                ({ number, kind, has_files: hasFiles, activated_at: at, activated_by: by, message }) => (
                  <li key={number}>
                    <span>{listTexts[kind]}</span>
                    <bdi>{by}</bdi>
                    <bdi className="soft">{message}</bdi>
                    <RelativeTime value={at} />
                    {canOpen && hasFiles ? (
                      <button type="button" className="text-button" onClick={() => setOpened(number)}>
                        {openTexts.action}
                      </button>
                    ) : null}
                  </li>
                ),
              )}
            </ul>
          </section>
          {active === undefined || isActive ? null : (
            <Difference title={texts.difference} from={active.id} to={release.data.id} />
          )}
          {before === undefined ? null : (
            <Difference title={texts.since(shortId(before))} from={before} to={release.data.id} />
          )}
        </div>
      )}
      {opened === undefined ? null : <OpenAsDraft release={id} number={opened} onClose={() => setOpened(undefined)} />}
      {isAsking ? (
        <RollBackDialog
          id={id}
          isNewer={isNewer}
          onClose={() => setAsking(false)}
          onDone={() => queries.invalidateQueries({ queryKey: ['release'] })}
        />
      ) : null}
    </>
  )
}

interface DifferenceProps {
  readonly title: string
  readonly from: string
  readonly to: string
}

function Difference({ title, from, to }: DifferenceProps) {
  const changes = useQuery({
    queryKey: ['release', from, 'diff', to],
    queryFn: ({ signal }) => call('GET /release/:id/diff/:other', { params: { id: from, other: to } }, signal),
  })
  return (
    <section>
      <h2>{title}</h2>
      {changes.isError ? <ProblemAlert error={changes.error} /> : null}
      {changes.data === undefined ? null : <ChangeList changes={changes.data.changes} />}
    </section>
  )
}
