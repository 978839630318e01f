import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { tablesQuery } from '../api/definition.ts'
import { loadingErrorOf } from '../api/send.ts'
import { config } from '../config.ts'
import { State } from '../components/badge.tsx'
import { NoRelease, RouteLink } from '../components/definition-parts.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { PlainTable } from '../components/plain-table.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { shortId } from '../components/release-link.tsx'
import { Traffic, trafficQuery } from '../components/traffic.tsx'
import { useCanEdit, useServerDraft } from '../edit/draft.ts'
import { FirstRequest } from '../publish/first-request.tsx'
import { Checklist, NoApi, useFirstSteps } from '../publish/first-steps.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { buildTexts as build } from '../components/definition-texts.ts'
import { numbers } from '../components/format.ts'
import { operateTexts } from '../components/operate-texts.ts'
import { pageTitles } from '../page-titles.ts'

const texts = {
  server: (version: string) => `Waypost ${version}`,
  attention: 'Needs attention',
  failed: (name: string, release: string) => `${name} could not start release ${release}`,
  failedVariables: (name: string, error: string) => `${name} still uses the previous values of variables. ${error}`,
  showVariables: 'Show variables',
  silent: (name: string) => `${name} has stopped reporting`,
  show: 'Show servers',
  start: {
    title: 'Build an API',
    steps: [
      'Design a table: dev writes a migration and applies it.',
      'Create routes from it: access, deletion and an event in one form.',
      'Call them with Try it, then look at the diff on the page Changes.',
    ],
    route: 'Or begin with a route',
  },
  traffic: 'Traffic',
  pending: 'Pending deliveries',
  routes: 'Busiest routes',
  route: 'Route',
  requests: 'Requests',
  serverErrors: '5xx',
  p50: 'Median',
  p95: '95th percentile',
} as const

const attentionTexts = {
  dead: (count: number) =>
    `${count >= 10_000 ? '10,000 or more' : numbers.format(count)} ${count === 1 ? 'delivery' : 'deliveries'} failed for good in the last 24 hours`,
  postponed: (count: number) =>
    `${numbers.format(count)} ${count === 1 ? 'subscription is' : 'subscriptions are'} postponed after too many failures`,
  showDeliveries: 'Show deliveries',
  showSubscriptions: 'Show subscriptions',
} as const

const refreshMs = 30_000
const busiest = 10

export function Page() {
  const account = useQuery({
    queryKey: ['account'],
    queryFn: ({ signal }) => call('GET /account', {}, signal),
    staleTime: 0,
  })
  const { data: deliveries } = useDeliverySummary()
  const steps = useFirstSteps()
  const draft = useServerDraft()
  const hasNoRelease = useServers().data?.entry.every(({ release, wanted }) => release === null && wanted === null)
  return (
    <>
      <PageHeader title={pageTitles.overview} text={account.data && texts.server(account.data.server.version)} />
      {account.isError ? <ProblemAlert error={account.error} onRetry={() => void account.refetch()} /> : null}
      <div className="stack">
        <Attention />
        <Start />
        <FirstSteps steps={steps} />
        {hasNoRelease && !config.isDevelopment ? (
          steps === undefined && draft === undefined ? (
            <NoRelease />
          ) : null
        ) : (
          <TrafficSection pending={deliveries?.pending} />
        )}
        <BusiestRoutes />
      </div>
    </>
  )
}

const knownMs = 89 * 86_400_000 // hours of 90 days are the most that a request may ask for

/** The traffic; how to begin while there never was any, as far as that is kept. */
function TrafficSection({ pending }: { readonly pending: number | undefined }) {
  const isQuiet = useQuery(trafficQuery()).data?.total.requests === 0
  const known = useQuery({
    queryKey: ['statistics', 'known'],
    queryFn: ({ signal }) =>
      call('GET /statistics', { query: { by: 'hour', from: new Date(Date.now() - knownMs).toISOString() } }, signal),
    enabled: isQuiet,
  }).data
  if (isQuiet && known?.total.requests === 0) return <FirstRequest />
  return (
    <section>
      <h2>{texts.traffic}</h2>
      <Traffic more={pending === undefined ? [] : [[texts.pending, build.number(pending)]]} />
    </section>
  )
}

/** The first steps on a server, until all are done. */
function FirstSteps({ steps }: { readonly steps: ReturnType<typeof useFirstSteps> }) {
  if (steps === undefined || !steps.isBuiltHere || Object.values(steps.done).every(Boolean)) return null
  return (
    <>
      {steps.isEmpty ? <NoApi /> : null}
      <Checklist steps={steps} />
    </>
  )
}

/** Where to begin in a project without tables. */
function Start() {
  const canEdit = useCanEdit() && config.isDevelopment
  const { data } = useQuery({
    ...tablesQuery,
    enabled: canEdit,
  })
  if (!canEdit || data?.entry.length !== 0) return null
  return (
    <section>
      <h2>{texts.start.title}</h2>
      <ol className="steps">
        {texts.start.steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <div>
        <Button renderRoot={(props) => <Link to="/tables/$name" params={{ name: 'new' }} {...props} />}>
          {build.newTable}
        </Button>
        <Link to="/routes">{texts.start.route}</Link>
      </div>
    </section>
  )
}

function useDeliverySummary() {
  return useQuery({
    queryKey: ['delivery', 'summary'],
    queryFn: ({ signal }) => call('GET /delivery/summary', {}, signal),
    refetchInterval: refreshMs,
  })
}

function useServers() {
  return useQuery({
    queryKey: ['server', 'list'],
    queryFn: ({ signal }) => call('GET /server', {}, signal),
    refetchInterval: refreshMs,
  })
}

/** What someone should look at: servers that do not serve the active release, and webhooks that do not arrive. */
function Attention() {
  const servers = useServers()
  const deliveries = useDeliverySummary()
  const mayOperate = useHasScope('backend.operate')
  const problems = servers.data?.entry.filter(({ state }) => state === 'failed' || state === 'silent') ?? []
  const { dead = 0, postponed = 0 } = deliveries.data ?? {}
  if (problems.length + dead + postponed === 0) return null
  return (
    <section>
      <h2>{texts.attention}</h2>
      <ul className="rows">
        {problems.map(({ name, state, wanted, release, error, heartbeat_at: beat }) => (
          <li key={`${name} ${beat}`}>
            <State tone="bad">{state}</State>
            <span dir="auto">
              {state === 'silent'
                ? texts.silent(name)
                : wanted === release
                  ? texts.failedVariables(name, error ?? '')
                  : texts.failed(name, shortId(wanted ?? ''))}
            </span>
            {state !== 'silent' && wanted === release ? (
              <Link to="/variables">{texts.showVariables}</Link>
            ) : (
              <Link to="/servers">{texts.show}</Link>
            )}
          </li>
        ))}
        {dead === 0 ? null : (
          <li>
            <State tone="bad">{operateTexts.statuses.dead}</State>
            <span>{attentionTexts.dead(dead)}</span>
            {mayOperate ? (
              <Link to="/deliveries" search={{ status: 'dead', since: '24h' }}>
                {attentionTexts.showDeliveries}
              </Link>
            ) : null}
          </li>
        )}
        {postponed === 0 ? null : (
          <li>
            <State tone="bad">{operateTexts.statuses.postponed}</State>
            <span>{attentionTexts.postponed(postponed)}</span>
            {mayOperate ? (
              <Link to="/subscriptions" search={{ status: 'postponed' }}>
                {attentionTexts.showSubscriptions}
              </Link>
            ) : null}
          </li>
        )}
      </ul>
    </section>
  )
}

function BusiestRoutes() {
  const routes = useQuery({
    queryKey: ['statistics', 'route', 'day'],
    queryFn: ({ signal }) => call('GET /statistics/route', { query: { by: 'minute' } }, signal),
    refetchInterval: refreshMs,
  })
  const routesError = loadingErrorOf(routes)
  if (routesError !== undefined) return <ProblemAlert error={routesError} onRetry={() => void routes.refetch()} />
  if (routes.data === undefined || routes.data.entry.length === 0) return null
  const right = { isRight: true } as const
  const latency = (ms: number | null) => (ms === null ? build.noData : build.ms(ms))
  return (
    <section>
      <h2>{texts.routes}</h2>
      <PlainTable
        label={texts.routes}
        rows={routes.data.entry.toSorted((a, b) => b.requests - a.requests).slice(0, busiest)}
        rowKey={({ route }) => route}
        columns={[
          { name: 'route', label: texts.route, render: ({ route }) => <RouteLink name={route} /> },
          { name: 'requests', label: texts.requests, ...right, render: ({ requests }) => build.number(requests) },
          { name: 'errors', label: texts.serverErrors, ...right, render: (row) => build.number(row.server_errors) },
          { name: 'p50', label: texts.p50, ...right, render: ({ p50_ms: ms }) => latency(ms) },
          { name: 'p95', label: texts.p95, ...right, render: ({ p95_ms: ms }) => latency(ms) },
        ]}
      />
    </section>
  )
}
