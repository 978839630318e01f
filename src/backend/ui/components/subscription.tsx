import { Button, NativeSelect, TextInput } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Entry } from '../api/call.ts'
import { useHasScope } from '../shell/scope-gate.tsx'
import { announce } from './announce.tsx'
import { State, type Tone } from './badge.tsx'
import { FormDialog } from './form-dialog.tsx'
import { ProblemAlert } from './problem.tsx'
import { SecretOnce } from './secret-once.tsx'
import { formatExact } from './time.tsx'
import { operateTexts } from './operate-texts.ts'
import { subscriptionTexts as texts, subscriptionsTexts } from './subscription-texts.ts'
import { describeName } from './whole-name.tsx'
import { pageTitles } from '../page-titles.ts'

const { statuses } = operateTexts

type Subscription = Pick<Entry<'GET /subscription'>, 'status' | 'is_barred' | 'postponed_until'>

const tones: Readonly<Record<Subscription['status'], Tone>> = { active: 'good', paused: 'warn', disabled: 'quiet' }

/** Opens the dialog that subscribes to an event. */
export function SubscribeLink({ event }: { readonly event: string }) {
  if (!useHasScope('backend.operate')) return null
  return (
    <section className="stack-small">
      <h2>{pageTitles.subscriptions}</h2>
      <div>
        <Button
          variant="default"
          renderRoot={(props) => <Link to="/subscriptions" search={{ add: '1', event }} {...props} />}
        >
          {subscriptionsTexts.subscribe}
        </Button>
      </div>
    </section>
  )
}

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

/** Problems with the address of an endpoint, for `SaveForm`. */
export const endpointFields = {
  WP_OUTBOUND_URL: 'endpoint',
  WP_OUTBOUND_HOST_UNKNOWN: 'endpoint',
  WP_OUTBOUND_ADDRESS: 'endpoint',
  WP_EVENTS_SUBSCRIPTION_SAME: 'endpoint',
} as const

interface EndpointDialogProps {
  readonly endpoint: string
  onSave(endpoint: string): Promise<void>
  onClose(): void
}

export function EndpointDialog({ endpoint: before, onSave, onClose }: EndpointDialogProps) {
  const [endpoint, setEndpoint] = useState(before)
  return (
    <FormDialog
      title={texts.changeEndpoint}
      action={texts.saveEndpoint}
      fields={endpointFields}
      onSave={async () => {
        await onSave(endpoint)
        announce(texts.saved)
      }}
      onSaved={onClose}
      onClose={onClose}
    >
      {(errorOf) => (
        <EndpointField
          text={texts.endpointText}
          value={endpoint}
          error={errorOf('endpoint')}
          onChange={setEndpoint}
          isFirst
        />
      )}
    </FormDialog>
  )
}

interface EndpointFieldProps {
  readonly label?: string
  readonly text: string
  readonly placeholder?: string
  readonly value: string
  readonly error: string | undefined
  /** Whether it gets the focus when its dialog opens. */
  readonly isFirst?: boolean
  onChange(endpoint: string): void
}

/** The address that events are sent to. */
export function EndpointField(props: EndpointFieldProps) {
  const { label = operateTexts.endpoint, text, value, error, isFirst = false, onChange, ...rest } = props
  return (
    <TextInput
      label={label}
      name="endpoint"
      type="url"
      inputMode="url"
      description={text}
      value={value}
      error={error}
      onChange={(change) => onChange(change.currentTarget.value.trim())}
      autoComplete="off"
      {...(isFirst && { 'data-autofocus': true })}
      {...rest}
    />
  )
}

interface EventFieldProps {
  readonly label: string
  readonly events: UseQueryResult<{
    readonly entry: readonly { readonly name: string; readonly description?: string | null }[]
  }>
  /** What to say if there are none. */
  readonly none: string
  readonly value: string
  readonly error: string | undefined
  onChange(event: string): void
}

/** The event to subscribe to. */
export function EventField({ label, events, none, value, error, onChange }: EventFieldProps) {
  const entry = events.data?.entry ?? []
  const first = events.isSuccess && entry.length === 0 ? none : subscriptionsTexts.chooseEvent
  return (
    <>
      {events.isError ? <ProblemAlert error={events.error} onRetry={() => void events.refetch()} /> : null}
      <NativeSelect
        label={label}
        name="event"
        description={describeName(value, entry.find(({ name }) => name === value)?.description ?? undefined)}
        value={value}
        error={error}
        data={[{ value: '', label: first, disabled: true }, ...entry.map(({ name }) => name)]}
        onChange={(change) => onChange(change.currentTarget.value)}
        data-autofocus
      />
    </>
  )
}

interface Rotated {
  readonly secret: string
  /** Null if the previous secret does not sign any more. */
  readonly previousUntil: string | null
}

interface RotateDialogProps {
  /** @param overlap how long the previous secret also signs */
  onRotate(overlap: string): Promise<Rotated>
  onClose(): void
}

/** Replaces the secret and shows the new one once. */
export function RotateDialog({ onRotate, onClose }: RotateDialogProps) {
  const [overlap, setOverlap] = useState('24h')
  const [made, setMade] = useState<Rotated>()
  if (made !== undefined) {
    return (
      <SecretOnce title={texts.rotated} values={{ [subscriptionsTexts.secret]: made.secret }} onClose={onClose}>
        <p className="soft">
          {made.previousUntil === null
            ? texts.previousEnded
            : texts.previousUntil(formatExact(Date.parse(made.previousUntil)))}
        </p>
      </SecretOnce>
    )
  }
  return (
    <FormDialog
      title={texts.rotateTitle}
      action={texts.rotateAction}
      fields={{ WP_EVENTS_ROTATIONS: 'overlap' }}
      onSave={async () => setMade(await onRotate(overlap))}
      onClose={onClose}
    >
      {(errorOf) => (
        <NativeSelect
          label={texts.overlap}
          name="overlap"
          value={overlap}
          error={errorOf('overlap')}
          data={Object.entries(texts.overlaps).map(([value, label]) => ({ value, label }))}
          onChange={(change) => setOverlap(change.currentTarget.value)}
          data-autofocus
        />
      )}
    </FormDialog>
  )
}
