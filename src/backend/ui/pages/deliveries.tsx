import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { TablePage } from '../components/table-page.tsx'
import {
  type Delivery,
  deliveryColumns,
  deliveryStatuses,
  loadDeliveries,
  nameDelivery,
} from '../components/delivery.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { deliveriesTexts as texts, replayDeadTexts as replayDead } from '../components/delivery-texts.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { operateTexts } from '../components/operate-texts.ts'
import { pageTitles } from '../page-titles.ts'

const refreshMs = 10_000

export function Page() {
  const [isAsking, setAsking] = useState(false)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false })
  const filterBy = (filter: Readonly<Record<string, string>>) =>
    void navigate({ to: '.', search: { ...search, ...filter, cursor: undefined } })
  const send = async (id: string, isPending: boolean) => {
    try {
      await call(isPending ? 'POST /delivery/:id/retry' : 'POST /delivery/:id/replay', { params: { id } })
      announce(isPending ? texts.retried : texts.replayed)
    } catch (error) {
      announce(error instanceof Error ? error.message : String(error))
    }
    await queries.invalidateQueries({ queryKey: ['delivery'] })
  }
  return (
    <TablePage<Delivery>
      title={pageTitles.deliveries}
      text={texts.text}
      mode={modeTexts.atOnce}
      actions={
        <Button variant="default" onClick={() => setAsking(true)}>
          {replayDead.open}
        </Button>
      }
      queryKey={['delivery']}
      load={loadDeliveries}
      rowKey={({ id }) => id}
      rowName={(delivery) => nameDelivery(delivery)}
      rowLink={({ id }) => ({ to: '/deliveries/$id', params: { id } })}
      columns={deliveryColumns('event', 'status', 'result', 'endpoint', 'user', 'attempts', 'created')}
      filters={[
        { name: 'status', label: operateTexts.status, options: deliveryStatuses },
        { name: 'event', label: operateTexts.event },
        { name: 'user', label: operateTexts.user },
        { name: 'endpoint', label: operateTexts.endpoint },
        { name: 'subscription', label: texts.subscription },
        { name: 'since', label: operateTexts.since, options: operateTexts.spans },
      ]}
      rowActions={({ id, status, endpoint, subscription }) => [
        {
          label: status === 'pending' ? texts.retry : texts.replay,
          run: () => void send(id, status === 'pending'),
        },
        ...(endpoint === null ? [] : [{ label: texts.sameEndpoint, run: () => filterBy({ endpoint }) }]),
        { label: texts.sameSubscription, run: () => filterBy({ subscription }) },
      ]}
      empty={
        <EmptyState
          title={texts.empty}
          text={texts.emptyText}
          link={{ to: '/subscriptions', label: texts.emptyLink }}
        />
      }
      refreshMs={refreshMs}
    >
      {isAsking ? <ReplayDialog onClose={() => setAsking(false)} /> : null}
    </TablePage>
  )
}

/** Says how many dead deliveries match, before it replays them. Begins with the filters of the list. */
function ReplayDialog({ onClose }: { onClose(): void }) {
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false })
  const [since, setSince] = useState(search['since'] ?? '24h')
  const [event, setEvent] = useState(search['event'] ?? '')
  const subscription = search['subscription'] ?? ''
  const queries = useQueryClient()
  const filter = {
    since,
    ...(event === '' ? {} : { event }),
    ...(subscription === '' ? {} : { subscription }),
  }
  const survey = useQuery({
    queryKey: ['delivery', 'replay', filter],
    queryFn: ({ signal }) => call('GET /delivery/replay', { query: filter }, signal),
    staleTime: 0,
  })
  const count = survey.data?.deliveries
  const replay = async () => {
    let total = 0
    for (let isLeft = true; isLeft;) {
      const { deliveries, more } = await call('POST /delivery/replay', { body: filter })
      total += deliveries
      isLeft = more && deliveries > 0
    }
    announce(replayDead.done(total))
    await queries.invalidateQueries({ queryKey: ['delivery'] })
  }
  const command = [
    `waypost event:replay --dead --since ${since}`,
    ...(event === '' ? [] : [`--event ${event}`]),
    ...(subscription === '' ? [] : [`--subscription ${subscription}`]),
  ].join(' ')
  return (
    <ConfirmDialog
      title={replayDead.title}
      action={count === undefined || count === 0 ? replayDead.none : replayDead.action(count)}
      command={command}
      isDisabled={count === undefined || count === 0}
      onConfirm={replay}
      onClose={onClose}
    >
      <div className="stack">
        <NativeSelect
          label={replayDead.died}
          value={since}
          data={Object.entries(operateTexts.spans).map(([value, label]) => ({ value, label }))}
          onChange={(change) => setSince(change.currentTarget.value)}
        />
        <TextInput
          label={operateTexts.event}
          placeholder={replayDead.anyEvent}
          value={event}
          onChange={(change) => setEvent(change.currentTarget.value.trim())}
        />
        {survey.isError ? <ProblemAlert error={survey.error} /> : null}
        <p aria-live="polite">
          {survey.isError ? null : count === undefined ? replayDead.counting : replayDead.text(count)}{' '}
          <span className="soft">{replayDead.left}</span>
        </p>
      </div>
    </ConfirmDialog>
  )
}
