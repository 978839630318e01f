import { useState } from 'react'
import { call } from '../api/call.ts'
import { State } from '../components/badge.tsx'
import { CutText } from '../components/delivery.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { formatMs, numbers } from '../components/format.ts'
import { listLocally } from '../components/local-list.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { operateTexts } from '../components/operate-texts.ts'
import { ManyRunsDialog, type Listener, type ManyRuns } from '../components/run.tsx'
import { listenersTexts as texts } from '../components/run-texts.ts'
import { TablePage } from '../components/table-page.tsx'
import { pageTitles } from '../page-titles.ts'

const refreshMs = 5000
const lists = {
  textOf: ({ name, event }: Listener) => `${name} ${event ?? texts.removed}`,
  sorts: {
    name: ({ name }: Listener) => name,
    pending: ({ pending }: Listener) => pending,
    dead: ({ dead }: Listener) => dead,
    runs: ({ runs }: Listener) => runs,
  },
}

export function Page() {
  const [asked, setAsked] = useState<ManyRuns>()
  return (
    <TablePage<Listener>
      title={pageTitles.listeners}
      text={texts.text}
      mode={modeTexts.atOnce}
      queryKey={['listener']}
      load={async (query, signal) => listLocally((await call('GET /listener', {}, signal)).entry, query, lists)}
      defaultSort="name"
      rowKey={({ name }) => name}
      rowLink={({ name }) => ({ to: '/listeners/$name', params: { name } })}
      columns={[
        { name: 'name', label: texts.listener, isSortable: true, render: ({ name }) => <CutText text={name} /> },
        {
          name: 'event',
          label: texts.event,
          render: ({ event }) =>
            event === null ? <State tone="warn">{texts.removed}</State> : <CutText text={event} />,
        },
        count('pending', texts.waiting, ({ pending }) => pending),
        { ...count('running', texts.running, ({ running }) => running), isSortable: false },
        count('dead', texts.dead, ({ dead }) => dead),
        count('runs', texts.day, ({ runs }) => runs),
        {
          name: 'failures',
          label: texts.failed,
          isRight: true,
          render: ({ failures, runs }) => texts.share(failures, runs),
        },
        {
          name: 'p95',
          label: texts.p95,
          isRight: true,
          isMinor: true,
          render: ({ p95_ms: p95 }) => (p95 === null ? operateTexts.none : formatMs(p95)),
        },
      ]}
      filters={[{ name: 'search', label: texts.search }]}
      rowActions={(listener) => [
        ...(listener.dead > 0 ? [{ label: texts.replay, run: () => setAsked({ what: 'replay', listener }) }] : []),
        ...(listener.pending > 0
          ? [{ label: texts.cancel, isDanger: true, run: () => setAsked({ what: 'cancel', listener }) }]
          : []),
      ]}
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
      refreshMs={refreshMs}
    >
      {asked === undefined ? null : <ManyRunsDialog {...asked} onClose={() => setAsked(undefined)} />}
    </TablePage>
  )
}

function count(name: string, label: string, of: (listener: Listener) => number) {
  const render = (listener: Listener) => {
    const value = of(listener)
    return value === 0 ? <span className="soft">{operateTexts.none}</span> : numbers.format(value)
  }
  return { name, label, isSortable: true, isRight: true, render }
}
