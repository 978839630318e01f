import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { loadingErrorOf } from '../api/send.ts'
import { CodeBlock, CopyText } from '../components/copy.tsx'
import { CronjobState } from '../components/cronjob.tsx'
import { cronjobsTexts as texts } from '../components/cronjob-texts.ts'
import { formatMs } from '../components/format.ts'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { RunLog } from '../components/run-log.tsx'
import { ExactTime } from '../components/time.tsx'

const refreshMs = 3000

export function Page() {
  const { name = '', id = '' } = useParams({ strict: false })
  const run = useQuery({
    queryKey: ['cronjob', 'run', name, id],
    queryFn: ({ signal }) => call('GET /cronjob/:name/run/:id', { params: { name, id } }, signal),
    refetchInterval: (query) => (query.state.data?.status === 'running' ? refreshMs : false),
  })
  const failure = loadingErrorOf(run)
  if (failure !== undefined) return <ProblemAlert error={failure} onRetry={() => void run.refetch()} />
  const found = run.data
  if (found === undefined) return <Skeleton height={240} />
  const { status, error, server, started_at: started, finished_at: finished, slot_at: slot } = found
  return (
    <>
      <PageHeader title={<bdi translate="no">{name}</bdi>} text={<CronjobState status={status} />} />
      <div className="page-sections">
        <dl className="facts facts-wide">
          <dt>{texts.started}</dt>
          <dd>
            <ExactTime value={started} />
          </dd>
          <dt>{texts.slot}</dt>
          <dd>
            <ExactTime value={slot} />
          </dd>
          {finished === null ? null : (
            <>
              <dt>{texts.duration}</dt>
              <dd>{formatMs(Date.parse(finished) - Date.parse(started))}</dd>
            </>
          )}
          <dt>{texts.server}</dt>
          <dd>
            <bdi translate="no">{server}</bdi>
          </dd>
          <dt>{texts.runId}</dt>
          <dd>
            <CopyText value={id} isMono label={texts.runId} />
          </dd>
        </dl>
        {error === null ? null : (
          <section className="stack">
            <h2>{texts.error}</h2>
            <CodeBlock code={error} label={texts.error} />
          </section>
        )}
        <RunLog log={found.log} />
      </div>
    </>
  )
}
