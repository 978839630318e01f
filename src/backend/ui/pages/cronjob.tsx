import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import { call, type Entry } from '../api/call.ts'
import { loadingErrorOf } from '../api/send.ts'
import { CronjobState, NextRun, RunDialog } from '../components/cronjob.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { PlainTable } from '../components/plain-table.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { RelativeTime } from '../components/time.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { useHasScope } from '../shell/scope-gate.tsx'
import { cronjobsTexts as texts } from '../components/cronjob-texts.ts'
import { buildTexts as build } from '../components/definition-texts.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { operateTexts } from '../components/operate-texts.ts'

const { none } = operateTexts

type Run = Entry<'GET /cronjob/:name/run'>

const refreshMs = 3000

const CronjobEditor = lazyPart(() => import('../editors/cronjob.tsx'), 'CronjobEditor')

export function Page() {
  const { name = '' } = useParams({ strict: false })
  const [isAsking, setAsking] = useState(false)
  const canEdit = useCanEdit()
  const mayRun = useHasScope('backend.operate')
  const jobs = useQuery({
    queryKey: ['cronjob', 'all'],
    queryFn: ({ signal }) => call('GET /cronjob', {}, signal),
    refetchInterval: refreshMs,
  })
  const job = jobs.data?.entry.find((one) => one.name === name)
  const run =
    job && mayRun ? (
      <Button variant={canEdit ? 'default' : 'filled'} disabled={job.is_running} onClick={() => setAsking(true)}>
        {texts.run}
      </Button>
    ) : undefined
  const dialog = isAsking ? <RunDialog name={name} onClose={() => setAsking(false)} /> : null
  if (canEdit)
    return (
      <>
        <CronjobEditor name={name} key={name} actions={run} runs={job && <Runs name={name} />} />
        {dialog}
      </>
    )
  return (
    <>
      <PageHeader title={name} text={job && `${job.schedule} ${job.timezone}`} mode={modeTexts.atOnce} action={run} />
      {jobs.isError ? <ProblemAlert error={jobs.error} onRetry={() => void jobs.refetch()} /> : null}
      {jobs.data !== undefined && job === undefined ? (
        <p className="soft">
          {texts.unknown(name)}. {texts.unknownText}
        </p>
      ) : null}
      <div className="page-sections">
        {job === undefined ? null : (
          <dl className="facts">
            <dt>{texts.next}</dt>
            <dd>
              <NextRun job={job} />
            </dd>
          </dl>
        )}
        <Runs name={name} />
      </div>
      {dialog}
    </>
  )
}

function Runs({ name }: { readonly name: string }) {
  const runs = useQuery({
    queryKey: ['cronjob', 'run', name],
    queryFn: ({ signal }) => call('GET /cronjob/:name/run', { params: { name } }, signal),
    refetchInterval: refreshMs,
  })
  const runsError = loadingErrorOf(runs)
  if (runsError !== undefined) return <ProblemAlert error={runsError} onRetry={() => void runs.refetch()} />
  const rows = runs.data?.entry
  return (
    <section className="stack">
      <h2>{texts.runs}</h2>
      {rows === undefined ? (
        <Skeleton height={120} />
      ) : rows.length === 0 ? (
        <p className="soft">{texts.noRuns}</p>
      ) : (
        <>
          <PlainTable
            label={texts.runs}
            rows={rows}
            rowKey={({ id }) => id}
            columns={[
              { name: 'started', label: texts.started, render: (run) => <Started name={name} run={run} /> },
              {
                name: 'result',
                label: texts.result,
                render: ({ status }) => <CronjobState status={status} />,
              },
              { name: 'duration', label: texts.duration, isRight: true, render: formatDuration },
              { name: 'slot', label: texts.slot, isMinor: true, render: (run) => <RelativeTime value={run.slot_at} /> },
              {
                name: 'server',
                label: texts.server,
                isMinor: true,
                render: ({ server }) => <bdi translate="no">{server}</bdi>,
              },
              {
                name: 'error',
                label: texts.error,
                width: '34%',
                render: ({ error }) =>
                  error === null ? (
                    none
                  ) : (
                    <span dir="auto" className="wrap">
                      {error}
                    </span>
                  ),
              },
            ]}
          />
          <p className="soft">{texts.keptRuns}</p>
        </>
      )}
    </section>
  )
}

/** The log of a run is on a page of its own, for operators. */
function Started({ name, run: { id, started_at: started } }: { readonly name: string; readonly run: Run }) {
  const mayOperate = useHasScope('backend.operate')
  if (!mayOperate) return <RelativeTime value={started} />
  return (
    <Link to="/cronjobs/$name/$id" params={{ name, id }}>
      <RelativeTime value={started} />
    </Link>
  )
}

function formatDuration({ started_at: started, finished_at: finished }: Run) {
  return finished === null ? none : build.ms(Date.parse(finished) - Date.parse(started))
}
