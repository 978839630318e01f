import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import { call, type Entry } from '../api/call.ts'
import { definitionId, definitionQuery } from '../api/definition.ts'
import { State } from '../components/badge.tsx'
import { TablePage } from '../components/table-page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { NextRun, RunDialog } from '../components/cronjob.tsx'
import { listLocally } from '../components/local-list.ts'
import { RelativeTime } from '../components/time.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { LastSave } from '../edit/last-save.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { pointerOf } from '../edit/values.ts'
import { MarkedName } from '../publish/draft-mark.tsx'
import { cronjobTexts, cronjobsTexts as texts } from '../components/cronjob-texts.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { operateTexts } from '../components/operate-texts.ts'
import { pageTitles as pages } from '../page-titles.ts'

const { none } = operateTexts

interface Cronjob extends Entry<'GET /cronjob'> {
  /** Whether it is only in the draft of a server, so it does not run yet. */
  readonly isDraft?: true
}

const neverRan = {
  timeout_ms: 0,
  next_at: null,
  is_running: false,
  is_late: false,
  started_at: null,
  finished_at: null,
  outcome: null,
  error: null,
  server: null,
  failures: 0,
  isDraft: true,
} as const

const refreshMs = 3000
const lists = {
  textOf: ({ name, schedule, timezone, error }: Cronjob) => [name, schedule, timezone, error].join(' '),
  filters: { result: ({ outcome }: Cronjob, value: string) => (outcome ?? 'none') === value },
  sorts: {
    name: ({ name }: Cronjob) => name,
    next: ({ next_at: next }: Cronjob) => next ?? '',
    last: ({ started_at: started }: Cronjob) => started ?? '',
  },
}

const NewCronjob = lazyPart(() => import('../editors/cronjob.tsx'), 'NewCronjob')

export function Page() {
  const [asked, setAsked] = useState<string>()
  const mayRun = useHasScope('backend.operate')
  const canEdit = useCanEdit()
  const queries = useQueryClient()
  return (
    <TablePage
      title={pages.cronjobs}
      text={texts.text}
      mode={modeTexts.atOnce}
      add={canEdit ? { label: cronjobTexts.new, dialog: NewCronjob } : undefined}
      queryKey={['cronjob']}
      load={async (query, signal) => {
        const { entry } = await call('GET /cronjob', {}, signal)
        return listLocally([...entry, ...(await listNewJobs(queries, entry))], query, lists)
      }}
      defaultSort="name"
      rowKey={({ name }) => name}
      rowLink={({ name }) => ({ to: '/cronjobs/$name', params: { name } })}
      columns={[
        {
          name: 'name',
          label: texts.name,
          isSortable: true,
          render: ({ name }) => <MarkedName name={name} at={pointerOf('cronjob', name)} />,
        },
        {
          name: 'schedule',
          label: texts.schedule,
          render: ({ schedule, timezone }) => (
            <span className="nowrap">
              <span translate="no" className="mono">
                {schedule}
              </span>{' '}
              <span className="soft">{timezone}</span>
            </span>
          ),
        },
        { name: 'next', label: texts.next, isSortable: true, render: (job) => <NextRun job={job} /> },
        { name: 'result', label: texts.result, width: '24%', render: (job) => <Result job={job} /> },
        {
          name: 'last',
          label: texts.last,
          isSortable: true,
          render: ({ started_at: started }) => (started === null ? texts.never : <RelativeTime value={started} />),
        },
      ]}
      {...(mayRun
        ? {
            rowActions: ({ name, is_running: isRunning, isDraft }: Cronjob) =>
              isRunning || isDraft ? [] : [{ label: texts.run, run: () => setAsked(name) }],
          }
        : {})}
      filters={[
        { name: 'search', label: texts.search },
        {
          name: 'result',
          label: texts.result,
          options: { done: texts.done, failed: texts.failed, none: texts.never },
        },
      ]}
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
      refreshMs={refreshMs}
    >
      {asked === undefined ? null : <RunDialog name={asked} onClose={() => setAsked(undefined)} />}
      {canEdit ? <LastSave /> : null}
    </TablePage>
  )
}

/** Lists those that are only in the draft of a server. */
async function listNewJobs(queries: QueryClient, known: readonly Cronjob[]): Promise<readonly Cronjob[]> {
  if (definitionId(queries) === 'active') return []
  const { cronjobs } = await queries.query(definitionQuery)
  return cronjobs.flatMap(({ name, schedule, timezone }) =>
    known.some((one) => one.name === name) ? [] : [{ ...neverRan, name, schedule, timezone: timezone ?? 'UTC' }],
  )
}

function Result({ job }: { readonly job: Cronjob }) {
  const { is_running: isRunning, started_at: started, finished_at: finished, outcome, error, failures } = job
  if (isRunning) return <State tone="info">{texts.running}</State>
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
