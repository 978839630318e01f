import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call, type Answer } from '../api/call.ts'
import { DataTable } from '../components/data-table.tsx'
import { CutText, EndpointText } from '../components/delivery.tsx'
import { Dialog } from '../components/dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { SaveForm } from '../components/save-form.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { SubscriptionState } from '../components/subscription.tsx'
import { RelativeTime } from '../components/time.tsx'
import { useAdding } from '../components/use-adding.ts'
import { strings } from '../strings.ts'

const { operate } = strings
const { subscriptions: texts, statuses } = operate

export function Page() {
  const [isAdding, setAdding] = useAdding()
  const add = <Button onClick={() => setAdding(true)}>{texts.add}</Button>
  return (
    <>
      <PageHeader title={operate.pages.subscriptions} text={texts.text} mode={strings.mode.atOnce} action={add} />
      <DataTable
        label={operate.pages.subscriptions}
        queryKey={['subscription']}
        load={(query, signal) => call('GET /subscription', { query: query as object }, signal)}
        rowKey={({ id }) => id}
        rowName={({ event, endpoint }) => `${event} ${endpoint}`}
        rowLink={({ id }) => ({ to: '/subscriptions/$id', params: { id } })}
        defaultSort="-created"
        columns={[
          { name: 'event', label: operate.event, render: ({ event }) => <CutText text={event} /> },
          {
            name: 'endpoint',
            label: operate.endpoint,
            render: ({ endpoint }) => <EndpointText endpoint={endpoint} />,
          },
          {
            name: 'status',
            label: operate.status,
            render: (subscription) => <SubscriptionState subscription={subscription} />,
          },
          { name: 'user', label: operate.user, render: ({ user }) => <CutText text={user ?? operate.none} /> },
          {
            name: 'client',
            label: operate.client,
            isMinor: true,
            render: ({ client }) => <CutText text={client?.name ?? client?.id ?? operate.none} />,
          },
          {
            name: 'created',
            label: operate.created,
            isSortable: true,
            render: ({ created_at: created }) => <RelativeTime value={created} />,
          },
        ]}
        filters={[
          {
            name: 'status',
            label: operate.status,
            options: {
              active: statuses.active,
              paused: statuses.paused,
              disabled: statuses.disabled,
              postponed: statuses.postponed,
            },
          },
          { name: 'event', label: operate.event },
          { name: 'user', label: operate.user },
        ]}
        empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
      />
      {isAdding ? <AddSubscription onClose={() => setAdding(false)} /> : null}
    </>
  )
}

type Added = Answer<'POST /subscription'>

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
  const names = events.data?.entry.map(({ name }) => name) ?? []
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
    <Dialog title={texts.addTitle} onClose={onClose}>
      <SaveForm
        action={texts.add}
        onCancel={onClose}
        onSave={async () => {
          setAdded(await call('POST /subscription', { body: { user, event, endpoint } }))
          await queries.invalidateQueries({ queryKey: ['subscription'] })
        }}
      >
        {(errorOf) => (
          <>
            {events.isError ? <ProblemAlert error={events.error} /> : null}
            <NativeSelect
              label={operate.event}
              name="event"
              description={events.data?.entry.find(({ name }) => name === event)?.description ?? undefined}
              value={event}
              error={errorOf('event')}
              data={[
                { value: '', label: names.length === 0 ? texts.noEvents : texts.chooseEvent, disabled: true },
                ...names,
              ]}
              onChange={(change) => setFields({ ...fields, event: change.currentTarget.value })}
              data-autofocus
            />
            <TextInput
              label={operate.endpoint}
              name="endpoint"
              type="url"
              description={texts.endpointText}
              placeholder={texts.endpointPlaceholder}
              value={endpoint}
              error={errorOf('endpoint')}
              onChange={(change) => setFields({ ...fields, endpoint: change.currentTarget.value.trim() })}
              autoComplete="off"
            />
            <TextInput
              label={operate.user}
              name="user"
              description={texts.userText}
              value={user}
              error={errorOf('user')}
              onChange={(change) => setFields({ ...fields, user: change.currentTarget.value })}
              autoComplete="off"
            />
          </>
        )}
      </SaveForm>
    </Dialog>
  )
}
