import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { send } from '../../api/send.ts'
import { announce } from '../../components/announce.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { EndpointField, endpointFields, EventField } from '../../components/subscription.tsx'
import type { EventEntry, List, Subscription } from '../api.ts'
import { eventsTexts as texts, subscriptionsTexts as subscriptions } from './event-texts.ts'

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
  return (
    <FormDialog
      title={given === undefined ? texts.subscribe : texts.subscribeTo(given)}
      action={texts.subscribe}
      isIncomplete={chosen === '' || endpoint === ''}
      fields={{ ...endpointFields, WP_EVENTS_UNKNOWN: 'event', WP_EVENTS_SCOPE: 'event' }}
      onSave={async () => {
        const made = await send<Subscription>('POST', 'subscription', { body: { event: chosen, endpoint } })
        await queries.invalidateQueries({ queryKey: ['subscription'] })
        if (made.secret === undefined) {
          announce(texts.existing)
          show(made.id)
        } else setAdded(made)
      }}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          {given === undefined ? (
            <EventField
              label={texts.name}
              events={events}
              none={subscriptions.noEvents}
              value={chosen}
              error={errorOf('event')}
              onChange={setChosen}
            />
          ) : null}
          <EndpointField
            label={texts.endpoint}
            text={texts.endpointText}
            placeholder={texts.endpointPlaceholder}
            value={endpoint}
            error={errorOf('endpoint')}
            isFirst={given !== undefined}
            onChange={setEndpoint}
          />
        </>
      )}
    </FormDialog>
  )
}
