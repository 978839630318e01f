import { TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call, type ResponseOf } from '../api/call.ts'
import { TablePage } from '../components/table-page.tsx'
import { CutText, EndpointText } from '../components/delivery.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { EndpointField, EventField, SubscriptionState } from '../components/subscription.tsx'
import { RelativeTime } from '../components/time.tsx'
import { modeTexts } from '../components/mode-texts.ts'
import { operateTexts } from '../components/operate-texts.ts'
import { subscriptionsTexts as texts } from '../components/subscription-texts.ts'
import { pageTitles } from '../page-titles.ts'

const { statuses } = operateTexts

export function Page() {
  return (
    <TablePage
      title={pageTitles.subscriptions}
      text={texts.text}
      mode={modeTexts.atOnce}
      add={{ label: texts.add, dialog: AddSubscription }}
      queryKey={['subscription']}
      load={(query, signal) => call('GET /subscription', { query: query as object }, signal)}
      rowKey={({ id }) => id}
      rowName={({ event, endpoint }) => `${event} ${endpoint}`}
      rowLink={({ id }) => ({ to: '/subscriptions/$id', params: { id } })}
      defaultSort="-created"
      columns={[
        { name: 'event', label: operateTexts.event, render: ({ event }) => <CutText text={event} /> },
        {
          name: 'endpoint',
          label: operateTexts.endpoint,
          render: ({ endpoint }) => <EndpointText endpoint={endpoint} />,
        },
        {
          name: 'status',
          label: operateTexts.status,
          render: (subscription) => <SubscriptionState subscription={subscription} />,
        },
        { name: 'user', label: operateTexts.user, render: ({ user }) => <CutText text={user ?? operateTexts.none} /> },
        {
          name: 'client',
          label: operateTexts.client,
          isMinor: true,
          render: ({ client }) => <CutText text={client?.name ?? client?.id ?? operateTexts.none} />,
        },
        {
          name: 'created',
          label: operateTexts.created,
          isSortable: true,
          render: ({ created_at: created }) => <RelativeTime value={created} />,
        },
      ]}
      filters={[
        {
          name: 'status',
          label: operateTexts.status,
          options: {
            active: statuses.active,
            paused: statuses.paused,
            disabled: statuses.disabled,
            postponed: statuses.postponed,
          },
        },
        { name: 'event', label: operateTexts.event },
        { name: 'user', label: operateTexts.user },
      ]}
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
    />
  )
}

type Added = ResponseOf<'POST /subscription'>

function AddSubscription({ onClose }: { onClose(): void }) {
  const { event: chosen }: { readonly event?: string } = useSearch({ strict: false })
  const [fields, setFields] = useState<{ user?: string; event?: string; endpoint: string }>({
    endpoint: '',
    ...(chosen === undefined ? {} : { event: chosen }),
  })
  const [added, setAdded] = useState<Added>()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const account = useQuery({ queryKey: ['account'], queryFn: ({ signal }) => call('GET /account', {}, signal) })
  const events = useQuery({
    queryKey: ['subscription', 'event'],
    queryFn: ({ signal }) => call('GET /subscription/event', {}, signal),
  })
  const { endpoint, event = '', user = account.data?.user.name ?? '' } = fields
  if (added !== undefined) {
    const { id } = added.subscription
    return (
      <SecretOnce
        title={texts.secretTitle}
        values={{ [texts.secret]: added.secret }}
        onClose={() => {
          onClose()
          void navigate({ to: '/subscriptions/$id', params: { id } })
        }}
      >
        <p className="soft">{texts.secretText}</p>
      </SecretOnce>
    )
  }
  return (
    <FormDialog
      title={texts.addTitle}
      action={texts.add}
      onSave={async () => {
        setAdded(await call('POST /subscription', { body: { user, event, endpoint } }))
        await queries.invalidateQueries({ queryKey: ['subscription'] })
      }}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <EventField
            label={operateTexts.event}
            events={events}
            none={texts.noEvents}
            value={event}
            error={errorOf('event')}
            onChange={(next) => setFields({ ...fields, event: next })}
          />
          <EndpointField
            text={texts.endpointText}
            placeholder={texts.endpointPlaceholder}
            value={endpoint}
            error={errorOf('endpoint')}
            onChange={(next) => setFields({ ...fields, endpoint: next })}
          />
          <TextInput
            label={operateTexts.user}
            name="user"
            description={texts.userText}
            value={user}
            error={errorOf('user')}
            onChange={(change) => setFields({ ...fields, user: change.currentTarget.value })}
            autoComplete="off"
          />
        </>
      )}
    </FormDialog>
  )
}
