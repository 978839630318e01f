import { Button, Skeleton } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { send } from '../../api/send.ts'
import { announce } from '../../components/announce.tsx'
import { Attempts } from '../../components/attempts.tsx'
import { CodeBlock, CopyText } from '../../components/copy.tsx'
import { DeliveryState, NextAttempt } from '../../components/delivery.tsx'
import { formatJson } from '../../components/format-json.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { ProblemAlert } from '../../components/problem.tsx'
import { ExactTime } from '../../components/time.tsx'
import { useCrumbTitle } from '../../shell/breadcrumbs.tsx'
import type { DeliveryDetails } from '../api.ts'
import { LoadProblem } from '../load-problem.tsx'
import { deliveriesTexts, deliveryTexts } from '../../components/delivery-texts.ts'
import { operateTexts } from '../../components/operate-texts.ts'
import { deliveriesTexts as texts } from '../events/event-texts.ts'
import { pagesTexts } from '../shell-texts.ts'

const pendingMs = 1500
const finishedMs = 15_000
const maxAttempts = 10

/** One delivery: its attempts, how the endpoint responded, and what was sent. */
export function Page() {
  const { id = '', delivery = '' } = useParams({ strict: false })
  const queries = useQueryClient()
  const path = `subscription/${encodeURIComponent(id)}/deliveries/${encodeURIComponent(delivery)}`
  const loaded = useQuery({
    queryKey: ['delivery', 'one', id, delivery],
    queryFn: ({ signal }) => send<DeliveryDetails>('GET', path, { signal }),
    staleTime: 0,
    refetchInterval: (query) => (query.state.data?.status === 'pending' ? pendingMs : finishedMs),
  })
  const replaying = useMutation({
    mutationFn: () => send('POST', `${path}/replay`),
    onSuccess: () => announce(deliveriesTexts.replayed),
    onSettled: () => queries.invalidateQueries({ queryKey: ['delivery'] }),
  })
  useCrumbTitle(pagesTexts.delivery, pagesTexts.subscription)
  if (loaded.isError) {
    const link = { to: `/subscriptions/${encodeURIComponent(id)}`, label: texts.back }
    return <LoadProblem error={loaded.error} text={texts.unknown} link={link} onRetry={() => void loaded.refetch()} />
  }
  const found = loaded.data
  return (
    <>
      <PageHeader
        title={found === undefined ? pagesTexts.delivery : (found.event ?? operateTexts.deleted)}
        text={found === undefined ? undefined : <DeliveryState delivery={found} />}
        action={
          <Button
            disabled={found === undefined || found.status === 'pending'}
            loading={replaying.isPending}
            onClick={() => replaying.mutate()}
          >
            {deliveriesTexts.replay}
          </Button>
        }
      />
      {found === undefined ? (
        <Skeleton height={240} />
      ) : (
        <div className="page-sections">
          {replaying.isError ? <ProblemAlert error={replaying.error} /> : null}
          <Facts subscription={id} delivery={found} />
          <Attempts attempts={found.attempts} limit={maxAttempts} notAllowed={texts.notAllowed} />
          <section>
            <h2>{texts.payload}</h2>
            {found.body === null ? (
              <p className="soft">{texts.noBody}</p>
            ) : (
              <>
                <CodeBlock code={found.is_body_truncated ? found.body : formatJson(found.body)} label={texts.payload} />
                {found.is_body_truncated ? <p className="soft">{deliveryTexts.truncated}</p> : null}
              </>
            )}
          </section>
        </div>
      )}
    </>
  )
}

interface FactsProps {
  /** The id of the subscription. */
  readonly subscription: string
  readonly delivery: DeliveryDetails
}

function Facts({ subscription, delivery }: FactsProps) {
  const { id, created, finished, replayed, due } = delivery
  const times = [
    [operateTexts.created, created],
    [texts.replayed, replayed],
    [deliveryTexts.finished, finished],
  ] as const
  return (
    <dl className="facts facts-wide">
      <dt>{texts.subscription}</dt>
      <dd>
        <Link translate="no" to="/subscriptions/$id" params={{ id: subscription }} className="mono">
          {subscription}
        </Link>
      </dd>
      <dt>{operateTexts.id}</dt>
      <dd>
        <CopyText value={id} isMono label={operateTexts.id} />
      </dd>
      {times.map(([label, time]) =>
        time === null ? null : (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <ExactTime value={time} />
            </dd>
          </div>
        ),
      )}
      {due === null ? null : (
        <>
          <dt>{deliveryTexts.next}</dt>
          <dd>
            <NextAttempt due={due} />
          </dd>
        </>
      )}
    </dl>
  )
}
