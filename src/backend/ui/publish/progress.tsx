import { Button, Loader, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check, Circle, X } from 'lucide-react'
import { useEffect, type ReactNode } from 'react'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { endSentence, ProblemAlert } from '../components/problem.tsx'
import { shortId } from '../components/release-link.tsx'
import { call } from '../api/call.ts'
import { Problem } from '../api/send.ts'
import { useServerDraft } from '../edit/draft.ts'
import type { Publication } from './api.ts'
import { countOf } from '../components/format.ts'
import { publishTexts as publish } from './publish-texts.ts'

const texts = {
  title: 'Publishing',
  done: 'Published',
  failed: 'Not published',
  text: (release: string, by: string) => `Release ${release} by ${by}`,
  unknown: 'This publication does not exist. Publications are kept for 30 days.',
  checked: 'Checked',
  migrate: 'Migrate',
  migrating: 'Migrating',
  migrated: (names: readonly string[]) => `Migrated ${names.join(', ')}`,
  activate: 'Activate',
  activating: 'Activating',
  activated: (release: string) => `Activated ${release}`,
  servers: {
    waiting: (server: string) => `${server} is loading the release`,
    serving: (server: string) => `${server} serves it`,
    failed: (server: string) => `${server} failed to start it and still serves the previous release`,
  },
  states: { done: 'done', running: 'in progress', waiting: 'waiting', failed: 'failed' },
  kept: 'The previous release is still being served. The draft keeps all its changes.',
  keptMigrated: 'Migrations that have run are kept and can no longer be edited.',
  back: 'Back to the changes',
  tryRoute: (name: string) => `Try ${name}`,
  routes: 'Show routes',
  rest: (changes: number) => `${countOf(changes, 'change')} not published`,
} as const

const pollMs = 500

interface ProgressProps {
  readonly id: string
  /** The method to try afterwards. */
  readonly tried: string | undefined
}

/** The steps of a publication, as they happen. */
export function Progress({ id, tried }: ProgressProps) {
  const queries = useQueryClient()
  const { data, error, isError, refetch } = useQuery({
    queryKey: ['publish', id],
    queryFn: ({ signal }) => call('GET /publish/:id', { params: { id } }, signal),
    refetchInterval: ({ state }) => (state.data !== undefined && isOver(state.data) ? false : pollMs),
  })
  const left = useServerDraft()?.entries.length ?? 0
  const state = data?.state
  useEffect(() => {
    // Another release is active, so all loaded data may be outdated.
    if (state === 'activated' || state === 'failed') void queries.invalidateQueries()
  }, [state, queries])
  if (isError)
    return error instanceof Problem && error.status === 404 ? (
      <EmptyState isPage title={publish.page} text={texts.unknown} link={{ to: '/publish', label: texts.back }} />
    ) : (
      <ProblemAlert error={error} onRetry={() => void refetch()} />
    )
  if (data === undefined) return <Skeleton height={160} />
  const title = data.state === 'activated' ? texts.done : data.state === 'failed' ? texts.failed : texts.title
  return (
    <>
      <PageHeader
        title={title}
        text={
          <span className="summary">
            <span>{texts.text(shortId(data.release), data.by)}</span>
            {data.message === null || data.message === '' ? null : <span dir="auto">{data.message}</span>}
          </span>
        }
      />
      <div className="stack">
        <ol className="publish-steps" aria-live="polite">
          <Steps publication={data} />
        </ol>
        {data.state === 'failed' ? (
          <>
            <p className="soft">
              {texts.kept} {data.migrated.length === 0 ? null : texts.keptMigrated}
            </p>
            <div>
              <Button renderRoot={(props) => <Link to="/publish" {...props} />}>{texts.back}</Button>
            </div>
          </>
        ) : null}
        {data.state === 'activated' ? (
          <div className="publish-next">
            {tried === undefined ? (
              <Button renderRoot={(props) => <Link to="/routes" {...props} />}>{texts.routes}</Button>
            ) : (
              <Button
                renderRoot={(props) => (
                  <Link to="/routes/$route" params={{ route: tried }} search={{ tab: 'try' }} {...props} />
                )}
              >
                {texts.tryRoute(tried)}
              </Button>
            )}
            {left === 0 ? null : <Link to="/publish">{texts.rest(left)}</Link>}
          </div>
        ) : null}
      </div>
    </>
  )
}

function isOver({ state, servers }: Publication): boolean {
  return state === 'failed' || (state === 'activated' && servers.every((one) => one.state !== 'waiting'))
}

const serverSteps = { serving: 'done', waiting: 'running', failed: 'failed' } as const

function Steps({ publication }: { readonly publication: Publication }) {
  const { state, migrated, release, servers, error } = publication
  const isActivated = state === 'activated'
  const failedAt = state !== 'failed' ? undefined : isMigrationError(publication) ? 'migrate' : 'activate'
  const hasMigrations = migrated.length > 0 || state === 'migrating' || failedAt === 'migrate'
  const problem =
    error === null ? null : (
      <div className="problem" role="alert">
        <p dir="auto">{endSentence(error.message)}</p>
        {error.hint === null ? null : <p dir="auto">{endSentence(error.hint)}</p>}
      </div>
    )
  return (
    <>
      {hasMigrations ? (
        <Step
          state={failedAt === 'migrate' ? 'failed' : state === 'migrating' ? 'running' : 'done'}
          label={
            state === 'migrating' ? texts.migrating : migrated.length > 0 ? texts.migrated(migrated) : texts.migrate
          }
        >
          {failedAt === 'migrate' ? problem : null}
        </Step>
      ) : null}
      <Step
        state={
          failedAt === 'activate' ? 'failed' : isActivated ? 'done' : state === 'activating' ? 'running' : 'waiting'
        }
        label={
          isActivated ? texts.activated(shortId(release)) : state === 'activating' ? texts.activating : texts.activate
        }
      >
        {failedAt === 'activate' ? problem : null}
      </Step>
      {isActivated
        ? servers.map((one) => (
            <Step key={one.name} state={serverSteps[one.state]} label={texts.servers[one.state](one.name)}>
              {one.error === null ? null : (
                <div className="problem" role="alert">
                  <p dir="auto">{one.error}</p>
                </div>
              )}
            </Step>
          ))
        : null}
    </>
  )
}

/** Whether one of its migrations failed. */
function isMigrationError({ error }: Publication): boolean {
  return error?.code.includes('MIGRAT') === true
}

interface StepProps {
  readonly state: keyof typeof texts.states
  readonly label: string
  readonly children?: ReactNode
}

function Step({ state, label, children }: StepProps) {
  return (
    <li className={`publish-step publish-step-${state}`}>
      <span className="publish-step-icon">
        {state === 'running' ? <Loader size={14} aria-hidden /> : null}
        {state === 'done' ? <Check size={14} aria-hidden /> : null}
        {state === 'failed' ? <X size={14} aria-hidden /> : null}
        {state === 'waiting' ? <Circle size={10} aria-hidden /> : null}
        <span className="hidden">{texts.states[state]}</span>
      </span>
      <div className="stack-small">
        <p dir="auto">{label}</p>
        {children}
      </div>
    </li>
  )
}
