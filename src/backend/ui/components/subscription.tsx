import { Button, NativeSelect, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Entry } from '../api/call.ts'
import { useHasScope } from '../shell/scope-gate.tsx'
import { strings } from '../strings.ts'
import { announce } from './announce.tsx'
import { State, type Tone } from './badge.tsx'
import { Dialog } from './dialog.tsx'
import { SaveForm } from './save-form.tsx'
import { SecretOnce } from './secret-once.tsx'
import { formatExact } from './time.tsx'

type Subscription = Pick<Entry<'GET /subscription'>, 'status' | 'is_barred' | 'postponed_until'>

const { operate } = strings
const { statuses, subscription: texts } = operate

const tones: Readonly<Record<Subscription['status'], Tone>> = { active: 'good', paused: 'warn', disabled: 'quiet' }

/** Opens the dialog that subscribes to an event. */
export function SubscribeLink({ event }: { readonly event: string }) {
  if (!useHasScope('backend.operate')) return null
  return (
    <section className="stack-small">
      <h2>{operate.pages.subscriptions}</h2>
      <div>
        <Button
          variant="default"
          renderRoot={(props) => <Link to="/subscriptions" search={{ add: '1', event }} {...props} />}
        >
          {operate.subscriptions.subscribe}
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
    <Dialog title={texts.changeEndpoint} onClose={onClose}>
      <SaveForm
        action={texts.saveEndpoint}
        fields={endpointFields}
        onCancel={onClose}
        onSave={async () => {
          await onSave(endpoint)
          announce(texts.saved)
        }}
        onSaved={onClose}
      >
        {(errorOf) => (
          <TextInput
            label={operate.endpoint}
            name="endpoint"
            type="url"
            description={texts.endpointText}
            value={endpoint}
            error={errorOf('endpoint')}
            onChange={(change) => setEndpoint(change.currentTarget.value.trim())}
            autoComplete="off"
            data-autofocus
          />
        )}
      </SaveForm>
    </Dialog>
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
      <SecretOnce title={texts.rotated} values={{ [operate.subscriptions.secret]: made.secret }} onClose={onClose}>
        <p className="soft">
          {made.previousUntil === null
            ? texts.previousEnded
            : texts.previousUntil(formatExact(Date.parse(made.previousUntil)))}
        </p>
      </SecretOnce>
    )
  }
  return (
    <Dialog title={texts.rotateTitle} onClose={onClose}>
      <SaveForm
        action={texts.rotateAction}
        fields={{ WP_EVENTS_ROTATIONS: 'overlap' }}
        onCancel={onClose}
        onSave={async () => setMade(await onRotate(overlap))}
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
      </SaveForm>
    </Dialog>
  )
}
