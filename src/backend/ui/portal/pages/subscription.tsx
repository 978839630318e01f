import { Button, Menu, Skeleton } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { send } from '../../api/send.ts'
import { MoreMenu } from '../../components/more-menu.tsx'
import { announce } from '../../components/announce.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { CopyText } from '../../components/copy.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { ProblemAlert } from '../../components/problem.tsx'
import { EndpointDialog, RotateDialog } from '../../components/subscription.tsx'
import { formatExact, RelativeTime } from '../../components/time.tsx'
import { useCrumbName } from '../../shell/breadcrumbs.tsx'
import type { Delivery, List, Subscription } from '../api.ts'
import { DeliveryLog } from '../events/delivery-log.tsx'
import { nameOfCreator, OwnState } from '../events/own-subscription.tsx'
import { LoadProblem } from '../load-problem.tsx'
import { operateTexts as operate } from '../../components/operate-texts.ts'
import { subscriptionTexts as shared } from '../../components/subscription-texts.ts'
import { subscriptionsTexts as texts } from '../events/event-texts.ts'
import { pagesTexts } from '../shell-texts.ts'

type Action = 'endpoint' | 'rotate' | 'pause' | 'delete'

const refreshMs = 10_000

/** One subscription: where it sends events, and what became of them. */
export function Page() {
  const { id = '' } = useParams({ strict: false })
  const [action, setAction] = useState<Action>()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const path = `subscription/${encodeURIComponent(id)}`
  const loaded = useQuery({
    queryKey: ['subscription', 'one', id],
    queryFn: ({ signal }) => send<Subscription>('GET', path, { signal }),
    staleTime: 0,
    refetchInterval: action === undefined ? refreshMs : false,
  })
  useCrumbName(loaded.data?.event)
  const change = async (body: Change) => {
    await send('PATCH', path, { body })
    await queries.invalidateQueries({ queryKey: ['subscription'] })
  }
  const testing = useMutation({
    mutationFn: () => send<{ readonly delivery: string }>('POST', `${path}/test`),
    onSuccess: ({ delivery }) => navigate({ to: '/subscriptions/$id/deliveries/$delivery', params: { id, delivery } }),
  })
  const resuming = useMutation({
    mutationFn: () => change({ status: 'active' }),
    onSuccess: () => announce(shared.resumed),
  })
  if (loaded.isError) {
    const link = { to: '/subscriptions', label: texts.all }
    return <LoadProblem error={loaded.error} text={texts.unknown} link={link} onRetry={() => void loaded.refetch()} />
  }
  const subscription = loaded.data
  if (subscription === undefined) {
    return (
      <>
        <PageHeader title={pagesTexts.subscription} />
        <Skeleton height={160} />
      </>
    )
  }
  const { event, endpoint, status, third_party: isThirdParty = false, disabled_by: disabledBy } = subscription
  const isActive = status === 'active'
  const failed = testing.error ?? resuming.error
  return (
    <>
      <PageHeader
        title={event}
        text={<OwnState subscription={subscription} isFull />}
        action={
          isThirdParty ? undefined : (
            <Button disabled={!isActive} loading={testing.isPending} onClick={() => testing.mutate()}>
              {shared.test}
            </Button>
          )
        }
        menu={<SubscriptionMenu isThirdParty={isThirdParty} onChoose={setAction} />}
      >
        {isActive ? (
          <Button variant="default" onClick={() => setAction('pause')}>
            {shared.pause}
          </Button>
        ) : disabledBy === undefined ? (
          <Button variant="default" loading={resuming.isPending} onClick={() => resuming.mutate()}>
            {status === 'paused' ? shared.resume : texts.enable}
          </Button>
        ) : null}
      </PageHeader>
      <div className="page-sections">
        {failed === null ? null : <ProblemAlert error={failed} />}
        <Why subscription={subscription} />
        <Facts subscription={subscription} />
        {isThirdParty ? null : <DeliveryLog subscription={subscription} />}
      </div>
      <SubscriptionDialog
        action={action}
        path={path}
        endpoint={endpoint}
        onChange={change}
        onClose={() => setAction(undefined)}
      />
    </>
  )
}

interface Change {
  readonly status?: 'active' | 'paused'
  readonly endpoint?: string
}

interface SubscriptionDialogProps {
  readonly action: Action | undefined
  readonly path: string
  readonly endpoint: string
  onChange(change: Change): Promise<void>
  onClose(): void
}

function SubscriptionDialog({ action, path, endpoint, onChange, onClose }: SubscriptionDialogProps) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  if (action === 'endpoint')
    return (
      <EndpointDialog endpoint={endpoint} onSave={(changed) => onChange({ endpoint: changed })} onClose={onClose} />
    )
  if (action === 'rotate') {
    const rotate = async (overlap: string) => {
      const made = await send<{ secret: string; previous_secret_until: string | null }>('POST', `${path}/secret`, {
        body: { overlap },
      })
      await queries.invalidateQueries({ queryKey: ['subscription'] })
      return { secret: made.secret, previousUntil: made.previous_secret_until }
    }
    return <RotateDialog onRotate={rotate} onClose={onClose} />
  }
  if (action === 'pause') {
    const pause = async () => {
      await onChange({ status: 'paused' })
      announce(shared.paused)
    }
    return (
      <ConfirmDialog title={shared.pauseTitle} action={shared.pause} onConfirm={pause} onClose={onClose}>
        {texts.pauseText}
      </ConfirmDialog>
    )
  }
  if (action === undefined) return null
  const remove = async () => {
    await send('DELETE', path)
    announce(shared.deletedDone)
    await navigate({ to: '/subscriptions' })
    await queries.invalidateQueries({ queryKey: ['subscription'] })
  }
  return (
    <ConfirmDialog
      title={shared.deleteTitle}
      action={shared.deleteAction}
      isDanger
      onConfirm={remove}
      onClose={onClose}
    >
      {texts.deleteText}
    </ConfirmDialog>
  )
}

interface SubscriptionMenuProps {
  readonly isThirdParty: boolean
  onChoose(action: Action): void
}

function SubscriptionMenu({ isThirdParty, onChoose }: SubscriptionMenuProps) {
  return (
    <MoreMenu label={shared.more}>
      {isThirdParty ? null : (
        <>
          <Menu.Item onClick={() => onChoose('endpoint')}>{shared.changeEndpoint}</Menu.Item>
          <Menu.Item onClick={() => onChoose('rotate')}>{shared.rotate}</Menu.Item>
          <Menu.Divider />
        </>
      )}
      <Menu.Item color="var(--bad)" onClick={() => onChoose('delete')}>
        {shared.remove}
      </Menu.Item>
    </MoreMenu>
  )
}

/** Why nothing is sent, or why the user cannot do everything with it. */
function Why({ subscription }: { readonly subscription: Subscription }) {
  const { id, status, client, third_party: isThirdParty, disabled_by: disabledBy } = subscription
  const { postponed_until: until } = subscription
  const isGone = useQuery({
    queryKey: ['delivery', 'gone', id],
    queryFn: async ({ signal }) => {
      const path = `subscription/${encodeURIComponent(id)}/deliveries`
      const { entry } = await send<List<Delivery>>('GET', path, { query: { limit: 100 }, signal })
      return entry.some(({ attempts }) => attempts.at(-1)?.status === 410)
    },
    enabled: status === 'disabled' && disabledBy === undefined && isThirdParty === undefined,
  })
  const reason =
    status === 'paused'
      ? texts.paused
      : disabledBy === 'administrator'
        ? texts.administrator
        : status === 'disabled'
          ? isGone.data === true
            ? texts.gone
            : texts.disabled
          : until === undefined
            ? undefined
            : texts.postponed(formatExact(Date.parse(until)))
  if (reason === undefined && isThirdParty === undefined) return null
  return (
    <div className="note stack-small">
      {reason === undefined ? null : <p>{reason}</p>}
      {isThirdParty === undefined ? null : (
        <p>
          <bdi>{texts.thirdParty(nameOfCreator(client))}</bdi> {texts.thirdPartyText}{' '}
          <Link to="/grants">{texts.thirdPartyLink}</Link>
        </p>
      )}
    </div>
  )
}

function Facts({ subscription }: { readonly subscription: Subscription }) {
  const { id, event, endpoint, client, created, previous_secret_until: until } = subscription
  return (
    <dl className="facts facts-wide">
      <dt>{operate.endpoint}</dt>
      <dd>
        <CopyText value={endpoint} label={operate.endpoint} />
      </dd>
      <dt>{operate.event}</dt>
      <dd>
        <Link to="/events/$name" params={{ name: event }}>
          <bdi translate="no">{event}</bdi>
        </Link>
      </dd>
      <dt>{texts.by}</dt>
      <dd>
        <bdi translate="no">{nameOfCreator(client)}</bdi>
      </dd>
      <dt>{operate.created}</dt>
      <dd>
        <RelativeTime value={created} />
      </dd>
      <dt>{operate.id}</dt>
      <dd>
        <CopyText value={id} isMono label={operate.id} />
      </dd>
      {until === undefined ? null : (
        <>
          <dt>{texts.previousUntil}</dt>
          <dd>{formatExact(Date.parse(until))}</dd>
        </>
      )}
    </dl>
  )
}
