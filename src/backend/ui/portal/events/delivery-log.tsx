import { Button, NativeSelect } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { send } from '../../api/send.ts'
import { announce } from '../../components/announce.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { deliveryColumns, deliveryStatuses, nameDelivery, type ListedDelivery } from '../../components/delivery.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ProblemAlert } from '../../components/problem.tsx'
import type { Delivery, List, Subscription } from '../api.ts'
import { deliveriesTexts, replayDeadTexts as replayDead } from '../../components/delivery-texts.ts'
import { operateTexts } from '../../components/operate-texts.ts'
import { subscriptionTexts } from '../../components/subscription-texts.ts'
import { subscriptionsTexts as texts } from './event-texts.ts'

const pendingMs = 2000
const finishedMs = 10_000

/** The server has no filter for deliveries that are tried again. */
const { retrying: _, ...statuses } = deliveryStatuses

/** The deliveries of a subscription, newest first. */
export function DeliveryLog({ subscription: { id, status } }: { readonly subscription: Subscription }) {
  const [isAsking, setAsking] = useState(false)
  const queries = useQueryClient()
  const path = `subscription/${encodeURIComponent(id)}`
  const replaying = useMutation({
    mutationFn: (delivery: string) => send('POST', `${path}/deliveries/${encodeURIComponent(delivery)}/replay`),
    onSuccess: () => announce(deliveriesTexts.replayed),
    onSettled: () => queries.invalidateQueries({ queryKey: ['delivery'] }),
  })
  const canReplay = status !== 'disabled'
  return (
    <section className="stack">
      <div className="section-header">
        <h2>{subscriptionTexts.deliveries}</h2>
        <Button variant="default" disabled={!canReplay} onClick={() => setAsking(true)}>
          {texts.replayDead}
        </Button>
      </div>
      {replaying.isError ? <ProblemAlert error={replaying.error} /> : null}
      <DataTable
        label={subscriptionTexts.deliveries}
        queryKey={['delivery', 'of', id]}
        load={async (query, signal) => {
          const page = await send<List<Delivery>>('GET', `${path}/deliveries`, { query, signal })
          return { ...page, entry: page.entry.map(toListed) }
        }}
        rowKey={(delivery) => delivery.id}
        rowName={(delivery) => nameDelivery(delivery)}
        rowLink={({ id: delivery }) => ({
          to: '/subscriptions/$id/deliveries/$delivery',
          params: { id, delivery },
        })}
        rowActions={(delivery) =>
          canReplay && delivery.status !== 'pending'
            ? [{ label: deliveriesTexts.replay, run: () => replaying.mutate(delivery.id) }]
            : []
        }
        columns={deliveryColumns('event', 'status', 'result', 'created')}
        filters={[{ name: 'status', label: operateTexts.status, options: statuses }]}
        empty={<EmptyState title={subscriptionTexts.noDeliveries} text={texts.noDeliveriesText} />}
        refreshMs={(rows) => (rows.some((delivery) => delivery.status === 'pending') ? pendingMs : finishedMs)}
      />
      {isAsking ? <ReplayDialog path={path} onClose={() => setAsking(false)} /> : null}
    </section>
  )
}

/** As the columns of lists of deliveries expect it. */
function toListed({ attempts, created, due, ...delivery }: Delivery): ListedDelivery {
  return {
    ...delivery,
    attempts: attempts.length,
    last: attempts.at(-1) ?? null,
    created_at: created,
    due_at: due,
    endpoint: null,
    user: null,
  }
}

interface ReplayDialogProps {
  /** Of the subscription. */
  readonly path: string
  onClose(): void
}

function ReplayDialog({ path, onClose }: ReplayDialogProps) {
  const [since, setSince] = useState('24h')
  const queries = useQueryClient()
  return (
    <ConfirmDialog
      title={replayDead.title}
      action={texts.replayDead}
      onConfirm={async () => {
        let total = 0
        for (let isLeft = true; isLeft;) {
          const response = await send<{ replayed: number; more: boolean }>('POST', `${path}/replay`, {
            body: { since },
          })
          total += response.replayed
          isLeft = response.more && response.replayed > 0
        }
        announce(total === 0 ? texts.replayedNone : replayDead.done(total))
        await queries.invalidateQueries({ queryKey: ['delivery'] })
      }}
      onClose={onClose}
    >
      <div className="stack">
        <NativeSelect
          label={replayDead.died}
          value={since}
          data={Object.entries(operateTexts.spans).map(([value, label]) => ({ value, label }))}
          onChange={(change) => setSince(change.currentTarget.value)}
        />
        <p className="soft">{texts.replayDeadText}</p>
      </div>
    </ConfirmDialog>
  )
}
