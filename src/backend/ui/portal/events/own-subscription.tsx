import { SubscriptionState } from '../../components/subscription.tsx'
import type { Subscription } from '../api.ts'
import { subscriptionsTexts as texts } from './event-texts.ts'

/** The built-in client of everyone who is signed in. */
const loginClientId = '00000000-0000-4000-8000-000000000001'

/** Who created a subscription: the user, or a client. */
export function nameOfCreator(client: Subscription['client']): string {
  return client === null || client.id === loginClientId ? texts.you : (client.name ?? client.id)
}

interface OwnStateProps {
  readonly subscription: Subscription
  readonly isFull?: boolean
}

export function OwnState({ subscription, isFull = false }: OwnStateProps) {
  const { status, disabled_by: by, postponed_until: until = null } = subscription
  return (
    <SubscriptionState
      subscription={{ status, is_barred: by === 'administrator', postponed_until: until }}
      isFull={isFull}
    />
  )
}
