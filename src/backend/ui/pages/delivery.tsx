import { Button, Skeleton } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { call, type ResponseOf } from '../api/call.ts'
import { loadingErrorOf } from '../api/send.ts'
import { announce } from '../components/announce.tsx'
import { Attempts } from '../components/attempts.tsx'
import { CodeBlock, CommandHint, CopyText } from '../components/copy.tsx'
import { DeliveryState, NextAttempt } from '../components/delivery.tsx'
import { formatJson } from '../components/format-json.ts'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { ExactTime } from '../components/time.tsx'
import { deliveriesTexts as listTexts, deliveryTexts as texts } from '../components/delivery-texts.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { operateTexts as operate } from '../components/operate-texts.ts'

type Delivery = ResponseOf<'GET /delivery/:id'>

const pendingMs = 1500
const finishedMs = 15_000

export function Page() {
  const { id = '' } = useParams({ strict: false })
  const queries = useQueryClient()
  const delivery = useQuery({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) => call('GET /delivery/:id', { params: { id } }, signal),
    staleTime: 0,
    refetchInterval: (query) => (query.state.data?.status === 'pending' ? pendingMs : finishedMs),
  })
  const isPending = delivery.data?.status === 'pending'
  const sending = useMutation({
    mutationFn: () => call(isPending ? 'POST /delivery/:id/retry' : 'POST /delivery/:id/replay', { params: { id } }),
    onSuccess: () => announce(isPending ? listTexts.retried : listTexts.replayed),
    onSettled: () => queries.invalidateQueries({ queryKey: ['delivery'] }),
  })
  const deliveryError = loadingErrorOf(delivery)
  if (deliveryError !== undefined) return <ProblemAlert error={deliveryError} onRetry={() => void delivery.refetch()} />
  const found = delivery.data
  return (
    <>
      <PageHeader
        title={found === undefined ? texts.title : (found.event ?? operate.deleted)}
        text={found === undefined ? undefined : <DeliveryState delivery={found} />}
        mode={modeTexts.atOnce}
        action={
          <Button disabled={found === undefined} loading={sending.isPending} onClick={() => sending.mutate()}>
            {isPending ? listTexts.retry : listTexts.replay}
          </Button>
        }
      />
      {sending.isError ? <ProblemAlert error={sending.error} /> : null}
      {found === undefined ? (
        <Skeleton height={240} />
      ) : (
        <div className="page-sections">
          <Facts delivery={found} />
          <Attempts
            attempts={found.history.map((attempt) => ({ ...attempt, started: attempt.started_at }))}
            limit={maxAttempts}
            notAllowed={texts.notAllowed}
          />
          <Request delivery={found} />
          <CommandHint command={`waypost ${isPending ? 'event:retry' : 'event:replay'} ${found.id}`} />
        </div>
      )}
    </>
  )
}

function Facts({ delivery }: { readonly delivery: Delivery }) {
  const {
    id,
    endpoint,
    subscription,
    user,
    message,
    created_at: created,
    due_at: due,
    finished_at: finished,
  } = delivery
  return (
    <dl className="facts facts-wide">
      <dt>{operate.endpoint}</dt>
      <dd>{endpoint === null ? operate.deleted : <CopyText value={endpoint} label={operate.endpoint} />}</dd>
      <dt>{texts.subscription}</dt>
      <dd>
        {endpoint === null ? (
          <span translate="no" className="mono">
            {subscription}
          </span>
        ) : (
          <Link translate="no" to="/subscriptions/$id" params={{ id: subscription }} className="mono">
            {subscription}
          </Link>
        )}
        {user === null ? null : (
          <>
            {' · '}
            <bdi translate="no">{user}</bdi>
          </>
        )}
      </dd>
      <dt>{operate.id}</dt>
      <dd>
        <CopyText value={id} isMono label={operate.id} />
      </dd>
      <dt>{texts.message}</dt>
      <dd>
        <CopyText value={message} isMono label={texts.message} />
      </dd>
      <dt>{operate.created}</dt>
      <dd>
        <ExactTime value={created} />
      </dd>
      {finished === null ? null : (
        <>
          <dt>{texts.finished}</dt>
          <dd>
            <ExactTime value={finished} />
          </dd>
        </>
      )}
      {due === null ? null : (
        <>
          <dt>{texts.next}</dt>
          <dd>
            <NextAttempt due={due} />
          </dd>
        </>
      )}
    </dl>
  )
}

const maxAttempts = 100

function Request({ delivery: { headers, body, is_body_truncated: isTruncated } }: { readonly delivery: Delivery }) {
  return (
    <section className="stack">
      <h2>{texts.request}</h2>
      {body === null ? (
        <p className="soft">{texts.noBody}</p>
      ) : (
        <>
          <CodeBlock code={isTruncated ? body : formatJson(body)} label={texts.body} />
          {isTruncated ? <p className="soft">{texts.truncated}</p> : null}
        </>
      )}
      <h3>{texts.headers}</h3>
      <dl className="facts mono">
        {Object.entries(headers).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="soft">{texts.signature}</p>
    </section>
  )
}
