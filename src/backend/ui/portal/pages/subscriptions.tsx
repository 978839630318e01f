import { send } from '../../api/send.ts'
import { TablePage } from '../../components/table-page.tsx'
import { CutText, EndpointText } from '../../components/delivery.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { RelativeTime } from '../../components/time.tsx'
import type { List, Subscription } from '../api.ts'
import { OwnState, nameOfCreator } from '../events/own-subscription.tsx'
import { SubscribeDialog } from '../events/subscribe-dialog.tsx'
import { operateTexts as operate } from '../../components/operate-texts.ts'
import { eventsTexts as events, subscriptionsTexts as texts } from '../events/event-texts.ts'
import { pagesTexts } from '../shell-texts.ts'

export function Page() {
  return (
    <TablePage
      title={pagesTexts.subscriptions}
      text={texts.text}
      add={{ label: events.subscribe, dialog: SubscribeDialog }}
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
      empty={<EmptyState title={texts.empty} text={texts.emptyText} link={{ to: '/events', label: texts.emptyLink }} />}
    />
  )
}
