import type { Entry } from '../api/call.ts'
import { strings } from '../strings.ts'
import { State, type Tone } from './badge.tsx'

type Subscription = Pick<Entry<'GET /subscription'>, 'status' | 'is_barred' | 'postponed_until'>

const { statuses, subscription: texts } = strings.operate

const tones: Readonly<Record<Subscription['status'], Tone>> = { active: 'good', paused: 'warn', disabled: 'quiet' }

interface SubscriptionStateProps {
  readonly subscription: Subscription
  /** Whether there is space to say who disabled it. */
  readonly isFull?: boolean
}

export function SubscriptionState({ subscription, isFull = false }: SubscriptionStateProps) {
  const { status, is_barred: isBarred, postponed_until: until } = subscription
  if (until !== null) return <State tone="bad">{statuses.postponed}</State>
  return (
    <>
      <State tone={tones[status]}>{statuses[status]}</State>
      {isBarred && isFull ? <span className="soft"> {texts.barred}</span> : null}
    </>
  )
}
