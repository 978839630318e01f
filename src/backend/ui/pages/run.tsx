import { Button, Progress, Skeleton } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { call, type ResponseOf } from '../api/call.ts'
import { loadingErrorOf } from '../api/send.ts'
import { announce } from '../components/announce.tsx'
import { CodeBlock, CommandHint, CopyText } from '../components/copy.tsx'
import { formatJson } from '../components/format-json.ts'
import { formatMs } from '../components/format.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { operateTexts as operate } from '../components/operate-texts.ts'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { RunLog } from '../components/run-log.tsx'
import { RunState } from '../components/run.tsx'
import { runTexts as texts } from '../components/run-texts.ts'
import { ExactTime, RelativeTime } from '../components/time.tsx'

type Run = ResponseOf<'GET /run/:id'>

const activeMs = 1500
const finishedMs = 15_000

export function Page() {
  const { id = '' } = useParams({ strict: false })
  const run = useQuery({
    queryKey: ['run', 'one', id],
    queryFn: ({ signal }) => call('GET /run/:id', { params: { id } }, signal),
    staleTime: 0,
    refetchInterval: (query) =>
      ['pending', 'running'].includes(query.state.data?.status ?? '') ? activeMs : finishedMs,
  })
  const failure = loadingErrorOf(run)
  if (failure !== undefined) return <ProblemAlert error={failure} onRetry={() => void run.refetch()} />
  const found = run.data
  if (found === undefined) return <Skeleton height={240} />
  return (
    <>
      <RunHeader run={found} />
      <div className="page-sections">
        <Facts run={found} />
        {found.outcome === null ? null : (
          <section className="stack">
            <h2>{texts.error}</h2>
            <CodeBlock code={found.outcome} label={texts.error} />
          </section>
        )}
        <RunLog log={found.log} />
        <Data run={found} />
        <CommandHint command={`waypost ${found.status === 'pending' ? 'event:retry' : 'event:replay'} ${id}`} />
      </div>
    </>
  )
}

const actions = {
  retry: { path: 'POST /run/:id/retry', done: texts.retried },
  replay: { path: 'POST /run/:id/replay', done: texts.replayed },
  cancel: { path: 'POST /run/:id/cancel', done: texts.discarded },
} as const

function RunHeader({ run }: { readonly run: Run }) {
  const queries = useQueryClient()
  const changing = useMutation({
    mutationFn: (what: keyof typeof actions) => call(actions[what].path, { params: { id: run.id } }),
    onSuccess: (_, what) => announce(actions[what].done),
    onSettled: () => queries.invalidateQueries({ queryKey: ['run'] }),
  })
  const isPending = run.status === 'pending'
  const main = isPending ? 'retry' : 'replay'
  return (
    <>
      <PageHeader
        title={<bdi translate="no">{run.listener}</bdi>}
        text={<RunState run={run} />}
        mode={modeTexts.atOnce}
        action={
          <Button
            disabled={run.status === 'running'}
            loading={changing.isPending && changing.variables === main}
            onClick={() => changing.mutate(main)}
          >
            {texts[main]}
          </Button>
        }
      >
        {isPending ? (
          <Button variant="default" onClick={() => changing.mutate('cancel')}>
            {texts.discard}
          </Button>
        ) : undefined}
      </PageHeader>
      {changing.isError ? <ProblemAlert error={changing.error} /> : null}
    </>
  )
}

function Facts({ run }: { readonly run: Run }) {
  const { event, due_at: due, started_at: started, finished_at: finished, latency_ms: ms, progress } = run
  return (
    <dl className="facts facts-wide">
      <dt>{operate.event}</dt>
      <dd>
        {event === null ? (
          operate.deleted
        ) : (
          <Link to="/events/$name" params={{ name: event }}>
            <bdi translate="no">{event}</bdi>
          </Link>
        )}
      </dd>
      {progress === null ? null : (
        <Fact label={texts.progress}>
          <Progress value={progress * 100} aria-label={texts.progress} maw={240} mb={4} />
          {Math.round(progress * 100)} % <span dir="auto">{run.progress_text}</span>
        </Fact>
      )}
      {due === null ? null : (
        <Fact label={texts.next}>
          {Date.parse(due) <= Date.now() ? texts.due : <RelativeTime value={due} canBeFuture />}
        </Fact>
      )}
      <Fact label={texts.failures}>{run.failures}</Fact>
      <Fact label={operate.created}>
        <ExactTime value={run.created_at} />
      </Fact>
      {started === null ? null : (
        <Fact label={texts.started}>
          <ExactTime value={started} />
        </Fact>
      )}
      {finished === null ? null : (
        <Fact label={texts.finished}>
          <ExactTime value={finished} />
        </Fact>
      )}
      {ms === null ? null : <Fact label={texts.duration}>{formatMs(ms)}</Fact>}
      <Fact label={operate.id}>
        <CopyText value={run.id} isMono label={operate.id} />
      </Fact>
      <Fact label={texts.message}>
        <CopyText value={run.message} isMono label={texts.message} />
      </Fact>
    </dl>
  )
}

function Fact({ label, children }: { readonly label: string; readonly children: React.ReactNode }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  )
}

function Data({ run: { data, is_data_truncated: isTruncated } }: { readonly run: Run }) {
  return (
    <section className="stack">
      <h2>{texts.data}</h2>
      {data === null ? (
        <p className="soft">{texts.noData}</p>
      ) : (
        <CodeBlock code={isTruncated ? data : formatJson(data)} label={texts.data} />
      )}
      {isTruncated ? <p className="soft">{texts.truncated}</p> : null}
    </section>
  )
}
