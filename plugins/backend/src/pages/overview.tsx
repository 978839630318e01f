import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call, type Entry } from '../api/call.ts'
import { MethodBadge, State } from '../components/badge.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { shortId } from '../components/release-link.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { strings } from '../strings.ts'

const { overview: texts, operate } = strings
const refreshMs = 30_000
const busiest = 10
const count = new Intl.NumberFormat('en')

export function Page() {
  const account = useQuery({
    queryKey: ['account'],
    queryFn: ({ signal }) => call('GET /account', {}, signal),
    staleTime: 0,
  })
  const traffic = useQuery({
    queryKey: ['statistics', 'route', 'day'],
    queryFn: ({ signal }) => call('GET /statistics/route', { query: { by: 'minute' } }, signal),
    refetchInterval: refreshMs,
  })
  return (
    <>
      <PageHeader title={strings.pages.overview} text={account.data && texts.server(account.data.server.version)} />
      {account.isError ? <ProblemAlert error={account.error} onRetry={() => void account.refetch()} /> : null}
      <div className="stack">
        <Attention />
        <section>
          <h2>{texts.traffic}</h2>
          <p className="soft">{texts.text}</p>
          {traffic.isError ? <ProblemAlert error={traffic.error} onRetry={() => void traffic.refetch()} /> : null}
          {traffic.isPending ? <Skeleton height={120} /> : null}
          {traffic.data === undefined ? null : <Traffic routes={traffic.data.entry} />}
        </section>
      </div>
    </>
  )
}

/** What someone should look at: servers that do not serve the active release, and webhooks that do not arrive. */
function Attention() {
  const servers = useQuery({
    queryKey: ['server', 'list'],
    queryFn: ({ signal }) => call('GET /server', {}, signal),
    refetchInterval: refreshMs,
  })
  const deliveries = useQuery({
    queryKey: ['delivery', 'summary'],
    queryFn: ({ signal }) => call('GET /delivery/summary', {}, signal),
    refetchInterval: refreshMs,
  })
  const mayOperate = useHasScope('backend.operate')
  const problems = servers.data?.entry.filter(({ state }) => state === 'failed' || state === 'silent') ?? []
  const { dead = 0, postponed = 0 } = deliveries.data ?? {}
  if (problems.length + dead + postponed === 0) return null
  return (
    <section>
      <h2>{texts.attention}</h2>
      <ul className="rows">
        {problems.map(({ name, state, wanted, heartbeat_at: beat }) => (
          <li key={`${name} ${beat}`}>
            <State tone="bad">{state}</State>
            <span dir="auto">
              {state === 'silent' ? texts.silent(name) : texts.failed(name, shortId(wanted ?? ''))}
            </span>
            <Link to="/servers">{texts.show}</Link>
          </li>
        ))}
        {dead === 0 ? null : (
          <li>
            <State tone="bad">{operate.statuses.dead}</State>
            <span>{operate.attention.dead(dead)}</span>
            {mayOperate ? (
              <Link to="/deliveries" search={{ status: 'dead', since: '24h' }}>
                {operate.attention.showDeliveries}
              </Link>
            ) : null}
          </li>
        )}
        {postponed === 0 ? null : (
          <li>
            <State tone="bad">{operate.statuses.postponed}</State>
            <span>{operate.attention.postponed(postponed)}</span>
            {mayOperate ? (
              <Link to="/subscriptions" search={{ status: 'postponed' }}>
                {operate.attention.showSubscriptions}
              </Link>
            ) : null}
          </li>
        )}
      </ul>
    </section>
  )
}

type RouteTraffic = Entry<'GET /statistics/route'>

function Traffic({ routes }: { readonly routes: readonly RouteTraffic[] }) {
  if (routes.length === 0) return <EmptyState title={texts.empty} text={texts.emptyText} />
  const sum = (of: (route: RouteTraffic) => number) => routes.reduce((total, route) => total + of(route), 0)
  const sorted = routes.toSorted((a, b) => b.requests - a.requests).slice(0, busiest)
  return (
    <>
      <dl className="figures">
        <Figure label={texts.requests} value={sum((route) => route.requests)} />
        <Figure label={texts.clientErrors} value={sum((route) => route.client_errors)} />
        <Figure label={texts.serverErrors} value={sum((route) => route.server_errors)} />
      </dl>
      <h2>{texts.routes}</h2>
      <div className="table-frame">
        <table className="table" role="table" aria-label={texts.routes}>
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader">{texts.route}</th>
              <th role="columnheader" className="right">
                {texts.requests}
              </th>
              <th role="columnheader" className="right">
                {texts.serverErrors}
              </th>
              <th role="columnheader" className="right">
                {texts.p50}
              </th>
              <th role="columnheader" className="right">
                {texts.p95}
              </th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {sorted.map(({ route, requests, server_errors: errors, p50_ms: p50, p95_ms: p95 }) => (
              <tr role="row" key={route}>
                <td role="cell" data-label={texts.route}>
                  <RouteName route={route} />
                </td>
                <td role="cell" data-label={texts.requests} className="right">
                  {count.format(requests)}
                </td>
                <td role="cell" data-label={texts.serverErrors} className="right">
                  {count.format(errors)}
                </td>
                <td role="cell" data-label={texts.p50} className="right">
                  {formatMs(p50)}
                </td>
                <td role="cell" data-label={texts.p95} className="right">
                  {formatMs(p95)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function RouteName({ route }: { readonly route: string }) {
  const [method = '', path = ''] = route.split(' ')
  return (
    <span className="route-name">
      <MethodBadge method={method} /> <bdi className="mono">{path}</bdi>
    </span>
  )
}

function Figure({ label, value }: { readonly label: string; readonly value: number }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{count.format(value)}</dd>
    </div>
  )
}

function formatMs(ms: number | null): string {
  if (ms === null) return texts.noData
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${count.format(Math.round(ms))} ms`
}
