import { Alert, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { CutText } from '../components/delivery.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { formatMs, numbers } from '../components/format.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { operateTexts } from '../components/operate-texts.ts'
import { ManyRunsDialog, RunState, type Listener, type ManyRuns, type Run } from '../components/run.tsx'
import { listenersTexts as texts, runTexts } from '../components/run-texts.ts'
import { TablePage } from '../components/table-page.tsx'
import { RelativeTime } from '../components/time.tsx'

const refreshMs = 3000
const { pending, running, done, dead, cancelled } = runTexts.states

export function Page() {
  const { name = '' } = useParams({ strict: false })
  const [what, setWhat] = useState<ManyRuns['what']>()
  const listeners = useQuery({
    queryKey: ['listener', 'all'],
    queryFn: ({ signal }) => call('GET /listener', {}, signal),
    refetchInterval: refreshMs,
  })
  const listener = listeners.data?.entry.find((one) => one.name === name)
  return (
    <TablePage<Run>
      title={name}
      label={texts.listener}
      text={listener && <Handles listener={listener} />}
      mode={modeTexts.atOnce}
      actions={listener && <Actions listener={listener} onAsk={setWhat} />}
      notes={listener && <Notes listener={listener} />}
      queryKey={['run', name]}
      load={(query, signal) => call('GET /run', { query: { ...query, listener: name } as object }, signal)}
      rowKey={({ id }) => id}
      rowLink={({ id }) => ({ to: '/listeners/$name/$id', params: { name, id } })}
      columns={[
        { name: 'id', label: runTexts.run, render: ({ id }) => <span className="mono">{id}</span> },
        { name: 'status', label: operateTexts.status, render: (run) => <RunState run={run} /> },
        { name: 'result', label: runTexts.result, width: '34%', render: (run) => <Result run={run} /> },
        {
          name: 'duration',
          label: runTexts.duration,
          isRight: true,
          render: ({ latency_ms: ms }) => (ms === null ? operateTexts.none : formatMs(ms)),
        },
        {
          name: 'failures',
          label: runTexts.failures,
          isRight: true,
          isMinor: true,
          render: ({ failures }) => failures,
        },
        {
          name: 'created',
          label: operateTexts.created,
          render: ({ created_at: created }) => <RelativeTime value={created} />,
        },
      ]}
      filters={[{ name: 'status', label: operateTexts.status, options: { pending, running, done, dead, cancelled } }]}
      empty={<EmptyState title={texts.noRuns} text={texts.noRunsText} />}
      refreshMs={refreshMs}
    >
      {what === undefined || listener === undefined ? null : (
        <ManyRunsDialog what={what} listener={listener} onClose={() => setWhat(undefined)} />
      )}
    </TablePage>
  )
}

interface ActionsProps {
  readonly listener: Listener
  onAsk(what: ManyRuns['what']): void
}

function Actions({ listener, onAsk }: ActionsProps) {
  return (
    <>
      {listener.pending > 0 ? (
        <Button variant="default" onClick={() => onAsk('cancel')}>
          {texts.cancel}
        </Button>
      ) : null}
      {listener.dead > 0 ? (
        <Button variant="default" onClick={() => onAsk('replay')}>
          {texts.replay}
        </Button>
      ) : null}
    </>
  )
}

function Handles({ listener: { event } }: { readonly listener: Listener }) {
  if (event === null) return texts.removedText
  return (
    <Link to="/events/$name" params={{ name: event }}>
      <bdi translate="no">{event}</bdi>
    </Link>
  )
}

function Notes({ listener }: { readonly listener: Listener }) {
  const ms = (value: number | null) => (value === null ? operateTexts.none : formatMs(value))
  const figures = [
    [texts.waiting, numbers.format(listener.pending)],
    [texts.running, numbers.format(listener.running)],
    [texts.dead, numbers.format(listener.dead)],
    [texts.day, numbers.format(listener.runs)],
    [texts.failed, texts.share(listener.failures, listener.runs)],
    [texts.p50, ms(listener.p50_ms)],
    [texts.p95, ms(listener.p95_ms)],
  ] as const
  return (
    <>
      {listener.event === null && listener.pending > 0 ? (
        <Alert color="yellow">{texts.waits(listener.pending)}</Alert>
      ) : null}
      <dl className="figures">
        {figures.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function Result({ run: { status, outcome, progress, progress_text: text } }: { readonly run: Run }) {
  if (status === 'running' && progress !== null)
    return <CutText text={`${Math.round(progress * 100)} % ${text ?? ''}`.trim()} />
  return outcome === null ? operateTexts.none : <CutText text={outcome.split('\n', 1)[0]!} />
}
