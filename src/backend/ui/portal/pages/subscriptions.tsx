import { Button } from '@mantine/core'
import { send } from '../../api/send.ts'
import { DataTable } from '../../components/data-table.tsx'
import { CutText, EndpointText } from '../../components/delivery.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { useAdding } from '../../components/use-adding.ts'
import { strings } from '../../strings.ts'
import type { List, Subscription } from '../api.ts'
import { OwnState, nameOfCreator } from '../events/own-subscription.tsx'
import { SubscribeDialog } from '../events/subscribe-dialog.tsx'
import { events, subscriptions as texts } from '../strings/events.ts'
import { shell } from '../strings/shell.ts'

const { operate } = strings

export function Page() {
  const [isAdding, setAdding] = useAdding()
  return (
    <>
      <PageHeader
        title={shell.pages.subscriptions}
        text={texts.text}
        action={<Button onClick={() => setAdding(true)}>{events.subscribe}</Button>}
      />
      <DataTable
        label={shell.pages.subscriptions}
        queryKey={['subscription']}
        load={(query, signal) => send<List<Subscription>>('GET', 'subscription', { query, signal })}
        rowKey={({ id }) => id}
        rowName={({ event, endpoint }) => `${event} ${endpoint}`}
        rowLink={({ id }) => ({ to: '/subscriptions/$id', params: { id } })}
        columns={[
          { name: 'event', label: operate.event, render: ({ event }) => <CutText text={event} /> },
          { name: 'endpoint', label: operate.endpoint, render: ({ endpoint }) => <EndpointText endpoint={endpoint} /> },
          {
            name: 'status',
            label: operate.status,
            render: (subscription) => <OwnState subscription={subscription} />,
          },
          {
            name: 'client',
            label: texts.by,
            render: ({ client }) => <CutText text={nameOfCreator(client)} />,
          },
          { name: 'created', label: operate.created, render: ({ created }) => <RelativeTime value={created} /> },
        ]}
        empty={
          <EmptyState title={texts.empty} text={texts.emptyText} link={{ to: '/events', label: texts.emptyLink }} />
        }
      />
      {isAdding ? <SubscribeDialog onClose={() => setAdding(false)} /> : null}
    </>
  )
}
