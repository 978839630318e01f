import { Button, Menu, Skeleton } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call, callWithEtag, type ResponseOf } from '../api/call.ts'
import { loadingErrorOf } from '../api/send.ts'
import { MoreMenu } from '../components/more-menu.tsx'
import { announce } from '../components/announce.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { CopyText } from '../components/copy.tsx'
import { DataTable } from '../components/data-table.tsx'
import { deliveryColumns, deliveryStatuses, loadDeliveries, nameDelivery } from '../components/delivery.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { EndpointDialog, RotateDialog, SubscriptionState } from '../components/subscription.tsx'
import { RelativeTime } from '../components/time.tsx'
import { modeTexts } from '../components/mode-texts.ts'
import { operateTexts } from '../components/operate-texts.ts'
import { subscriptionTexts as texts } from '../components/subscription-texts.ts'
import { pageTitles } from '../page-titles.ts'

type Subscription = ResponseOf<'GET /subscription/:id'>
type Action = 'pause' | 'disable' | 'delete' | 'rotate' | 'endpoint'

const refreshMs = 5000

export function Page() {
  const { id = '' } = useParams({ strict: false })
  const [action, setAction] = useState<Action>()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const loaded = useQuery({
    queryKey: ['subscription', id],
    queryFn: ({ signal }) => callWithEtag('GET /subscription/:id', { params: { id } }, { signal }),
    staleTime: 0,
    refetchInterval: action === undefined ? refreshMs : false,
  })
  const subscription = loaded.data?.data
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: ['subscription'] })
    await queries.invalidateQueries({ queryKey: ['delivery'] })
  }
  const testing = useMutation({
    mutationFn: () => call('POST /subscription/:id/test', { params: { id } }),
    onSuccess: ({ delivery }) => navigate({ to: '/deliveries/$id', params: { id: delivery } }),
  })
  const setStatus = async (status: Subscription['status'], done: string) => {
    await call('PATCH /subscription/:id', { params: { id }, body: { status } })
    announce(done)
    await refresh()
  }
  const resuming = useMutation({ mutationFn: () => setStatus('active', texts.resumed) })
  const loadedError = loadingErrorOf(loaded)
  if (loadedError !== undefined) return <ProblemAlert error={loadedError} onRetry={() => void loaded.refetch()} />
  const isActive = subscription?.status === 'active'
  const failed = testing.error ?? resuming.error
  return (
    <>
      <PageHeader
        title={subscription?.event ?? pageTitles.subscription}
        text={subscription === undefined ? undefined : <SubscriptionState subscription={subscription} isFull />}
        mode={modeTexts.atOnce}
        action={
          <Button disabled={!isActive} loading={testing.isPending} onClick={() => testing.mutate()}>
            {texts.test}
          </Button>
        }
        menu={
          subscription === undefined ? undefined : (
            <SubscriptionMenu isDisabled={subscription.status === 'disabled'} onChoose={setAction} />
          )
        }
      >
        {subscription === undefined ? null : isActive ? (
          <Button variant="default" onClick={() => setAction('pause')}>
            {texts.pause}
          </Button>
        ) : (
          <Button variant="default" loading={resuming.isPending} onClick={() => resuming.mutate()}>
            {subscription.status === 'paused' ? texts.resume : texts.enable}
          </Button>
        )}
      </PageHeader>
      {failed === null ? null : <ProblemAlert error={failed} />}
      {subscription === undefined ? (
        <Skeleton height={160} />
      ) : (
        <div className="page-sections">
          <Facts subscription={subscription} />
          <section className="stack">
            <h2>{texts.deliveries}</h2>
            <DataTable
              label={texts.deliveries}
              queryKey={['delivery', 'of', id]}
              load={(query, signal) => loadDeliveries({ ...query, subscription: id }, signal)}
              rowKey={(delivery) => delivery.id}
              rowName={nameDelivery}
              rowLink={(delivery) => ({ to: '/deliveries/$id', params: { id: delivery.id } })}
              columns={deliveryColumns('event', 'status', 'result', 'attempts', 'created')}
              filters={[{ name: 'status', label: operateTexts.status, options: deliveryStatuses }]}
              empty={<EmptyState title={texts.noDeliveries} text={texts.noDeliveriesText} />}
              refreshMs={refreshMs}
            />
          </section>
        </div>
      )}
      {subscription === undefined || action === undefined ? null : (
        <ActionDialog
          action={action}
          subscription={subscription}
          etag={loaded.data?.etag}
          setStatus={setStatus}
          onChanged={refresh}
          onClose={() => setAction(undefined)}
        />
      )}
    </>
  )
}

function SubscriptionMenu({ isDisabled, onChoose }: { readonly isDisabled: boolean; onChoose(action: Action): void }) {
  return (
    <MoreMenu label={texts.more}>
      <Menu.Item onClick={() => onChoose('endpoint')}>{texts.changeEndpoint}</Menu.Item>
      <Menu.Item onClick={() => onChoose('rotate')}>{texts.rotate}</Menu.Item>
      <Menu.Divider />
      {isDisabled ? null : <Menu.Item onClick={() => onChoose('disable')}>{texts.disable}</Menu.Item>}
      <Menu.Item color="var(--bad)" onClick={() => onChoose('delete')}>
        {texts.remove}
      </Menu.Item>
    </MoreMenu>
  )
}

function Facts({ subscription }: { readonly subscription: Subscription }) {
  const { id, endpoint, user, client, created_at: created, failures, pending, dead } = subscription
  const { postponed_until: until, paused_at: pausedAt } = subscription
  return (
    <dl className="facts facts-wide">
      <dt>{operateTexts.endpoint}</dt>
      <dd>
        <CopyText value={endpoint} label={operateTexts.endpoint} />
      </dd>
      <dt>{operateTexts.user}</dt>
      <dd>
        <bdi>{user ?? operateTexts.none}</bdi>
        {client === null ? null : (
          <span className="soft">
            {' · '}
            <bdi translate="no">{client.name ?? client.id}</bdi>
          </span>
        )}
      </dd>
      <dt>{operateTexts.id}</dt>
      <dd>
        <CopyText value={id} isMono label={operateTexts.id} />
      </dd>
      <dt>{operateTexts.created}</dt>
      <dd>
        <RelativeTime value={created} />
      </dd>
      {pausedAt === null ? null : (
        <>
          <dt>{texts.pausedAt}</dt>
          <dd>
            <RelativeTime value={pausedAt} />
          </dd>
        </>
      )}
      {until === null ? null : (
        <>
          <dt>{texts.postponed}</dt>
          <dd>
            <RelativeTime value={until} canBeFuture />
          </dd>
        </>
      )}
      {failures === 0 ? null : (
        <>
          <dt>{texts.failures}</dt>
          <dd>{operateTexts.count(failures)}</dd>
        </>
      )}
      <dt>{texts.pending}</dt>
      <dd>{operateTexts.count(pending)}</dd>
      <dt>{texts.dead}</dt>
      <dd>
        {dead === 0 ? (
          '0'
        ) : (
          <Link to="/deliveries" search={{ subscription: id, status: 'dead' }}>
            {operateTexts.count(dead)}
          </Link>
        )}
      </dd>
    </dl>
  )
}

interface ActionDialogProps {
  readonly action: Action
  readonly subscription: Subscription
  readonly etag: string | undefined
  setStatus(status: Subscription['status'], done: string): Promise<void>
  onChanged(): Promise<void>
  onClose(): void
}

function ActionDialog({ action, subscription, etag, setStatus, onChanged, onClose }: ActionDialogProps) {
  const { id, pending } = subscription
  const navigate = useNavigate()
  if (action === 'endpoint') {
    return (
      <EndpointDialog
        endpoint={subscription.endpoint}
        onSave={async (endpoint) => {
          await callWithEtag('PATCH /subscription/:id', { params: { id }, body: { endpoint } }, { ifMatch: etag })
          await onChanged()
        }}
        onClose={onClose}
      />
    )
  }
  if (action === 'rotate') {
    return (
      <RotateDialog
        onRotate={async (overlap) => {
          const made = await call('POST /subscription/:id/secret', { params: { id }, body: { overlap } })
          return { secret: made.secret, previousUntil: made.previous_until }
        }}
        onClose={onClose}
      />
    )
  }
  if (action === 'pause') {
    return (
      <ConfirmDialog
        title={texts.pauseTitle}
        action={texts.pause}
        onConfirm={() => setStatus('paused', texts.paused)}
        onClose={onClose}
      >
        {texts.pauseText(pending)}
      </ConfirmDialog>
    )
  }
  if (action === 'disable') {
    return (
      <ConfirmDialog
        title={texts.disableTitle}
        action={texts.disableAction}
        command={`waypost subscription:disable ${id}`}
        isDanger
        onConfirm={() => setStatus('disabled', texts.disabled)}
        onClose={onClose}
      >
        {texts.disableText(pending)}
      </ConfirmDialog>
    )
  }
  return (
    <ConfirmDialog
      title={texts.deleteTitle}
      action={texts.deleteAction}
      command={`waypost subscription:delete ${id}`}
      isDanger
      onConfirm={async () => {
        await call('DELETE /subscription/:id', { params: { id } })
        announce(texts.deletedDone)
        await navigate({ to: '/subscriptions' })
        await onChanged()
      }}
      onClose={onClose}
    >
      {texts.deleteText(pending)}
    </ConfirmDialog>
  )
}
