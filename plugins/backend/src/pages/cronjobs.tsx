import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Entry } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { State } from '../components/badge.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { DataTable } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { RelativeTime } from '../components/time.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { strings } from '../strings.ts'

type Cronjob = Entry<'GET /cronjob'>

const { cronjobs: texts, pages, none } = strings.operate
const refreshMs = 3000

export function Page() {
  const [asked, setAsked] = useState<string>()
  const queries = useQueryClient()
  const mayRun = useHasScope('backend.operate')
  const run = async (name: string) => {
    await call('POST /cronjob/:name/run', { params: { name } })
    announce(texts.started(name))
    await queries.invalidateQueries({ queryKey: ['cronjob'] })
  }
  return (
    <>
      <PageHeader title={pages.cronjobs} text={texts.text} mode={strings.mode.atOnce} />
      <DataTable
        label={pages.cronjobs}
        queryKey={['cronjob']}
        load={(_query, signal) => call('GET /cronjob', {}, signal)}
        rowKey={({ name }) => name}
        columns={[
          { name: 'name', label: texts.name, render: ({ name }) => <bdi className="strong">{name}</bdi> },
          {
            name: 'schedule',
            label: texts.schedule,
            render: ({ schedule, timezone }) => (
              <>
                <span className="mono">{schedule}</span> <span className="soft">{timezone}</span>
              </>
            ),
          },
          { name: 'next', label: texts.next, render: (job) => <NextRun job={job} /> },
          { name: 'result', label: texts.result, width: '36%', render: (job) => <Result job={job} /> },
          {
            name: 'last',
            label: texts.last,
            render: ({ started_at: started }) => (started === null ? texts.never : <RelativeTime value={started} />),
          },
        ]}
        {...(mayRun
          ? {
              rowActions: ({ name, is_running: isRunning }: Cronjob) =>
                isRunning ? [] : [{ label: texts.run, run: () => setAsked(name) }],
            }
          : {})}
        empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
        refreshMs={refreshMs}
      />
      {asked === undefined ? null : (
        <ConfirmDialog
          title={texts.runTitle(asked)}
          action={texts.runAction(asked)}
          command={`waypost cron:execute ${asked}`}
          onConfirm={() => run(asked)}
          onClose={() => setAsked(undefined)}
        >
          {texts.runText}
        </ConfirmDialog>
      )}
    </>
  )
}

function NextRun({ job: { next_at: next, is_late: isLate } }: { readonly job: Cronjob }) {
  return (
    <>
      {next === null ? none : <RelativeTime value={next} canBeFuture />}
      {isLate ? (
        <p className="soft">
          <State tone="warn">{texts.late}</State> {texts.lateText}
        </p>
      ) : null}
    </>
  )
}

function Result({ job }: { readonly job: Cronjob }) {
  const { is_running: isRunning, started_at: started, finished_at: finished, outcome, error, failures } = job
  if (isRunning) return <State tone="accent">{texts.running}</State>
  if (started === null) return none
  const isLost = finished === null
  if (!isLost && outcome === 'done') return <State tone="good">{texts.done}</State>
  return (
    <>
      <State tone="bad">{isLost ? texts.lost : texts.failed}</State>{' '}
      {failures > 1 ? <span className="soft">{texts.inARow(failures)}</span> : null}
      {error === null ? null : (
        <p className="soft wrap" dir="auto">
          {error}
        </p>
      )}
    </>
  )
}
