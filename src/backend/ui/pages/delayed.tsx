import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Entry } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { CutText } from '../components/delivery.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { modeTexts } from '../components/mode-texts.ts'
import { operateTexts } from '../components/operate-texts.ts'
import { delayedTexts as texts } from '../components/run-texts.ts'
import { TablePage } from '../components/table-page.tsx'
import { RelativeTime } from '../components/time.tsx'
import { pageTitles } from '../page-titles.ts'

type Delayed = Entry<'GET /delayed'>

const refreshMs = 5000

export function Page() {
  const [asked, setAsked] = useState<Delayed>()
  const queries = useQueryClient()
  return (
    <TablePage<Delayed>
      title={pageTitles.delayed}
      text={texts.text}
      mode={modeTexts.atOnce}
      queryKey={['delayed']}
      load={(query, signal) => call('GET /delayed', { query: query as object }, signal)}
      rowKey={({ id }) => id}
      rowName={({ event, key, id }) => `${event} ${key ?? id.slice(-6)}`}
      columns={[
        { name: 'event', label: texts.event, render: ({ event }) => <CutText text={event} /> },
        {
          name: 'key',
          label: texts.key,
          render: ({ key }) => (key === null ? operateTexts.none : <CutText text={key} />),
        },
        { name: 'due', label: texts.due, render: ({ due_at: due }) => <RelativeTime value={due} canBeFuture /> },
        {
          name: 'dispatched',
          label: texts.dispatched,
          render: ({ created_at: created }) => <RelativeTime value={created} />,
        },
        {
          name: 'users',
          label: texts.users,
          isMinor: true,
          render: ({ is_targeted: isTargeted }) => (isTargeted ? texts.some : texts.all),
        },
      ]}
      filters={[{ name: 'event', label: texts.event }]}
      rowActions={(delayed) => [{ label: texts.cancel, isDanger: true, run: () => setAsked(delayed) }]}
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
      refreshMs={refreshMs}
    >
      {asked === undefined ? null : (
        <ConfirmDialog
          title={texts.cancelTitle(asked.event)}
          action={texts.cancelAction}
          isDanger
          onConfirm={async () => {
            await call('DELETE /delayed/:id', { params: { id: asked.id } })
            announce(texts.cancelled)
            await queries.invalidateQueries({ queryKey: ['delayed'] })
          }}
          onClose={() => setAsked(undefined)}
        >
          {texts.cancelText}
        </ConfirmDialog>
      )}
    </TablePage>
  )
}
