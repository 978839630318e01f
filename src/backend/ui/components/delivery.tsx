import type { Entry } from '../api/call.ts'
import { State, type Tone } from './badge.tsx'
import type { Column } from './data-table.tsx'
import type { ListQuery } from './use-list-query.ts'
import { RelativeTime } from './time.tsx'
import { call } from '../api/call.ts'
import { deliveriesTexts as texts, deliveryTexts } from './delivery-texts.ts'
import { operateTexts } from './operate-texts.ts'

export type Delivery = Entry<'GET /delivery'>

/** What lists show of a delivery. */
export type ListedDelivery = Omit<Delivery, 'last' | 'message' | 'subscription' | 'finished_at'> & {
  readonly last: Pick<NonNullable<Delivery['last']>, 'status' | 'outcome'> | null
}

const tones: Readonly<Record<Delivery['status'] | 'retrying', Tone>> = {
  pending: 'info',
  retrying: 'warn',
  delivered: 'good',
  dead: 'bad',
  cancelled: 'quiet',
}

interface DeliveryStateProps {
  readonly delivery: Pick<Delivery, 'status' | 'failures'>
}

export function DeliveryState({ delivery: { status, failures } }: DeliveryStateProps) {
  const shown = status === 'pending' && failures > 0 ? 'retrying' : status
  return <State tone={tones[shown]}>{operateTexts.statuses[shown]}</State>
}

/** The result of an attempt: the status of the response, or why there was none. */
export function describeResult({ status, outcome }: Pick<NonNullable<Delivery['last']>, 'status' | 'outcome'>): string {
  if (status === null) return outcome // also where the user may not see the response
  return outcome === 'delivered' || outcome === `status ${status}` ? String(status) : outcome
}

/** A name of a delivery that others in a list do not have, for screen readers. */
export function nameDelivery({ event, id }: Pick<Delivery, 'event' | 'id'>): string {
  return `${event ?? operateTexts.deleted} ${id.slice(-6)}`
}

/** A text on one line, in full in its tooltip. */
export function CutText({ text }: { readonly text: string }) {
  return (
    <bdi translate="no" className="ellipsis" title={text}>
      {text}
    </bdi>
  )
}

/** A URL without its scheme, cut in the middle of long paths by the style. */
export function EndpointText({ endpoint }: { readonly endpoint: string | null }) {
  if (endpoint === null) return <span className="soft">{operateTexts.deleted}</span>
  return (
    <bdi translate="no" className="ellipsis" title={endpoint}>
      {endpoint.replace(/^https:\/\//, '')}
    </bdi>
  )
}

export const deliveryStatuses = {
  pending: operateTexts.statuses.pending,
  retrying: operateTexts.statuses.retrying,
  delivered: operateTexts.statuses.delivered,
  dead: operateTexts.statuses.dead,
  cancelled: operateTexts.statuses.cancelled,
}

type ColumnName = 'event' | 'status' | 'result' | 'endpoint' | 'user' | 'attempts' | 'created'

const columns: Readonly<Record<ColumnName, Column<ListedDelivery>>> = {
  event: {
    name: 'event',
    label: operateTexts.event,
    render: ({ event }) => <CutText text={event ?? operateTexts.deleted} />,
  },
  status: { name: 'status', label: operateTexts.status, render: (delivery) => <DeliveryState delivery={delivery} /> },
  result: {
    name: 'result',
    label: texts.result,
    render: ({ last }) =>
      last === null ? (
        operateTexts.none
      ) : (
        <span dir="auto" className="ellipsis result" title={describeResult(last)}>
          {describeResult(last)}
        </span>
      ),
  },
  endpoint: {
    name: 'endpoint',
    label: operateTexts.endpoint,
    render: ({ endpoint }) => <EndpointText endpoint={endpoint} />,
  },
  user: {
    name: 'user',
    label: operateTexts.user,
    isMinor: true,
    render: ({ user }) => <CutText text={user ?? operateTexts.none} />,
  },
  attempts: {
    name: 'attempts',
    label: texts.attempts,
    isRight: true,
    isMinor: true,
    render: ({ attempts }) => attempts,
  },
  created: {
    name: 'created',
    label: operateTexts.created,
    render: ({ created_at: created, due_at: due, failures }) => (
      <span>
        <RelativeTime value={created} />
        {due === null || failures === 0 || isPast(due) ? null : (
          <span className="soft nowrap minor">
            {' · '}
            {texts.next} <RelativeTime value={due} canBeFuture />
          </span>
        )}
      </span>
    ),
  },
}

function isPast(time: string): boolean {
  return Date.parse(time) <= Date.now()
}

/** When the next attempt is made, or what it waits for. */
export function NextAttempt({ due }: { readonly due: string }) {
  return isPast(due) ? <span className="soft">{deliveryTexts.waits}</span> : <RelativeTime value={due} canBeFuture />
}

export function deliveryColumns(...names: readonly ColumnName[]): readonly Column<ListedDelivery>[] {
  return names.map((name) => columns[name])
}

const maxSteps = 40

/**
 * Loads a page of deliveries. The server looks through a limited number of them for each response, so this asks again
 * until it finds some.
 */
export async function loadDeliveries({ cursor, ...filter }: ListQuery, signal: AbortSignal) {
  let from = cursor
  for (let step = 1; ; step++) {
    const page = await call('GET /delivery', { query: { ...filter, cursor: from } as object }, signal)
    if (page.entry.length > 0 || page.next === null || step === maxSteps) return page
    from = page.next
  }
}
