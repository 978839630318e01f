import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { send } from '../../api/send.ts'
import { announce } from '../../components/announce.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemAlert } from '../../components/problem.tsx'
import { SaveForm } from '../../components/save-form.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { endpointFields } from '../../components/subscription.tsx'
import type { EventEntry, List, Subscription } from '../api.ts'
import { events as texts, subscriptions } from '../strings/events.ts'

interface SubscribeDialogProps {
  /** The event; without it, the user chooses one. */
  readonly event?: string
  onClose(): void
}

/** Subscribes, shows the secret once, and then the subscription. */
export function SubscribeDialog({ event: given, onClose }: SubscribeDialogProps) {
  const [chosen, setChosen] = useState(given ?? '')
  const [endpoint, setEndpoint] = useState('')
  const [added, setAdded] = useState<Subscription>()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const events = useQuery({
    queryKey: ['event', 'names'],
    queryFn: ({ signal }) => send<List<EventEntry>>('GET', 'event', { signal }),
    enabled: given === undefined,
  })
  const show = (id: string) => {
    onClose()
    void navigate({ to: '/subscriptions/$id', params: { id } })
  }
  if (added?.secret !== undefined) {
    return (
      <SecretOnce title={texts.subscribed} values={{ [texts.secret]: added.secret }} onClose={() => show(added.id)}>
        <p className="soft">{texts.secretText}</p>
      </SecretOnce>
    )
  }
  const names = events.data?.entry.map(({ name }) => name) ?? []
  return (
    <Dialog title={given === undefined ? texts.subscribe : texts.subscribeTo(given)} onClose={onClose}>
      <SaveForm
        action={texts.subscribe}
        isIncomplete={chosen === '' || endpoint === ''}
        fields={{ ...endpointFields, WP_EVENTS_UNKNOWN: 'event', WP_EVENTS_SCOPE: 'event' }}
        onCancel={onClose}
        onSave={async () => {
          const made = await send<Subscription>('POST', 'subscription', { body: { event: chosen, endpoint } })
          await queries.invalidateQueries({ queryKey: ['subscription'] })
          if (made.secret === undefined) {
            announce(texts.existing)
            show(made.id)
          } else setAdded(made)
        }}
      >
        {(errorOf) => (
          <>
            {events.isError ? <ProblemAlert error={events.error} onRetry={() => void events.refetch()} /> : null}
            {given === undefined ? (
              <NativeSelect
                label={texts.name}
                name="event"
                description={events.data?.entry.find(({ name }) => name === chosen)?.description ?? undefined}
                value={chosen}
                error={errorOf('event')}
                data={[
                  {
                    value: '',
                    label: events.isSuccess && names.length === 0 ? subscriptions.noEvents : subscriptions.chooseEvent,
                    disabled: true,
                  },
                  ...names,
                ]}
                onChange={(change) => setChosen(change.currentTarget.value)}
                data-autofocus
              />
            ) : null}
            <TextInput
              label={texts.endpoint}
              name="endpoint"
              type="url"
              inputMode="url"
              description={texts.endpointText}
              placeholder={texts.endpointPlaceholder}
              value={endpoint}
              error={errorOf('endpoint')}
              onChange={(change) => setEndpoint(change.currentTarget.value.trim())}
              autoComplete="off"
              {...(given === undefined ? {} : { 'data-autofocus': true })}
            />
          </>
        )}
      </SaveForm>
    </Dialog>
  )
}
