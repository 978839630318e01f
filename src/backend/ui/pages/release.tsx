import { Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useId, useState, type ReactNode } from 'react'
import { call, type ResponseOf } from '../api/call.ts'
import { loadingErrorOf } from '../api/send.ts'
import { State } from '../components/badge.tsx'
import { ChangeList } from '../components/change-list.tsx'
import { CopyText } from '../components/copy.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { shortId } from '../components/release-link.tsx'
import { RollBackDialog, rollBackLabel } from '../components/roll-back-dialog.tsx'
import { RollBackButton, useRollbackObstacle } from '../components/rollback-obstacle.tsx'
import { RelativeTime } from '../components/time.tsx'
import { useCrumbName } from '../shell/breadcrumbs.tsx'
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

type Release = ResponseOf<'GET /release/:id'>

export function Page() {
  const { id = '' } = useParams({ strict: false })
  const [isAsking, setAsking] = useState(false)
  const queries = useQueryClient()
  const release = useQuery({
    queryKey: ['release', id],
    queryFn: ({ signal }) => call('GET /release/:id', { params: { id } }, signal),
  })
  const { active, isActive, before, isNewer } = useStanding(release.data)
  const mayRollBack = useHasScope('backend.deploy')
  useCrumbName(shortId(id))
  const isOffered = active !== undefined && release.data !== undefined && !isActive && mayRollBack
  const obstacle = useRollbackObstacle(isOffered ? id : undefined)
  const reasonId = useId()
  const releaseError = loadingErrorOf(release)
  if (releaseError !== undefined) return <ProblemAlert error={releaseError} onRetry={() => void release.refetch()} />
  return (
    <>
      <PageHeader
        title={`${texts.title} ${shortId(id)}`}
        text={summarize(isActive, release.data?.message ?? '')}
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
              <RelativeTime value={release.data.created_at} /> {texts.by}{' '}
              <bdi translate="no">{release.data.created_by}</bdi>
            </dd>
            <dt>{texts.version}</dt>
            <dd>{release.data.waypost}</dd>
          </dl>
          <Activations release={release.data} />
          {active === undefined || isActive ? null : (
            <Difference title={texts.difference} from={active.id} to={release.data.id} />
          )}
          {before === undefined ? null : (
            <Difference title={texts.since(shortId(before))} from={before} to={release.data.id} />
          )}
        </div>
      )}
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

/** How a release stands to the active one. */
function useStanding(release: Release | undefined) {
  const listed = useQuery({
    queryKey: ['release', 'list'],
    queryFn: ({ signal }) => call('GET /release', {}, signal),
  })
  const entry = listed.data?.entry ?? []
  const activeAt = entry.findIndex((one) => one.is_active)
  const active = entry[activeAt]
  const isActive = active !== undefined && active.id === release?.id
  return {
    active,
    isActive,
    /** The release before the active one, if this is the active one. */
    before: isActive ? entry[activeAt + 1]?.id : undefined,
    isNewer: active !== undefined && release !== undefined && release.created_at > active.created_at,
  }
}

/** What is said of a release below its title, if anything. */
function summarize(isActive: boolean, message: string): ReactNode {
  if (!isActive && message === '') return undefined
  return (
    <span className="summary">
      {isActive ? <State tone="good">{listTexts.active}</State> : null}
      {message === '' ? null : <bdi>{message}</bdi>}
    </span>
  )
}

/** When a release was activated. What it was then can be opened as a draft. */
function Activations({ release }: { readonly release: Release }) {
  const canOpen = useHasDraft() && !config.isDevelopment
  const [opened, setOpened] = useState<number>()
  return (
    <>
      <section>
        <h2>{texts.activations}</h2>
        <ul className="rows">
          {release.activations.map(
            ({ number, kind, has_files: hasFiles, activated_at: at, activated_by: by, message }) => (
              <li key={number}>
                <span>{listTexts[kind]}</span>
                <bdi translate="no">{by}</bdi>
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
      {opened === undefined ? null : (
        <OpenAsDraft release={release.id} number={opened} onClose={() => setOpened(undefined)} />
      )}
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
