import { Skeleton } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { call, type Entry } from '../api/call.ts'
import { loadingErrorOf } from '../api/send.ts'
import { EmptyState } from './empty-state.tsx'
import { PlainTable } from './plain-table.tsx'
import { ProblemAlert } from './problem.tsx'
import { formatExact } from './time.tsx'
import { buildTexts as build } from './definition-texts.ts'

const texts = {
  text: 'The last 24 hours, counted once a minute.',
  requests: 'Requests',
  clientErrors: '4xx',
  serverErrors: '5xx',
  p50: 'Median',
  p95: '95th percentile',
  hour: 'Hour',
  perHour: 'Requests in an hour',
  failed: 'of them 4xx and 5xx',
  axis: ['24 h ago', '18 h', '12 h', '6 h', 'now'],
  chart: 'Requests in each hour',
  table: 'Show as a table',
  empty: 'Not called in the last 24 hours',
  emptyText: 'Calls appear here within a minute.',
} as const

type Hour = Entry<'GET /statistics'>

const refreshMs = 30_000
const hourMs = 3_600_000
const hours = 25 // the first one is not complete

export function trafficQuery(route?: string) {
  return queryOptions({
    queryKey: ['statistics', route],
    queryFn: ({ signal }) =>
      call('GET /statistics', { query: { by: 'hour', ...(route === undefined ? {} : { route }) } }, signal),
    refetchInterval: refreshMs,
  })
}

interface TrafficProps {
  /** Only of this method: `GET /todo`. */
  readonly route?: string
  /** Further figures. */
  readonly more?: readonly (readonly [label: string, value: ReactNode])[]
}

/** Requests, errors and latency of the last 24 hours. */
export function Traffic({ route, more = [] }: TrafficProps) {
  const loaded = useQuery(trafficQuery(route))
  const loadedError = loadingErrorOf(loaded)
  if (loadedError !== undefined) return <ProblemAlert error={loadedError} onRetry={() => void loaded.refetch()} />
  if (loaded.data === undefined) return <Skeleton height={160} />
  const { entry, total } = loaded.data
  const isEmpty = entry.length === 0
  if (isEmpty && route !== undefined) return <EmptyState title={texts.empty} text={texts.emptyText} />
  const figures = [
    [texts.requests, build.number(total.requests)],
    [texts.clientErrors, build.number(total.client_errors)],
    [texts.serverErrors, build.number(total.server_errors)],
    [texts.p95, total.p95_ms === null ? '–' : latency(total.p95_ms)],
    ...more,
  ] as const
  return (
    <div>
      <p className="soft">{texts.text}</p>
      <dl className="figures">
        {figures.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {isEmpty ? (
        <p className="soft">{texts.emptyText}</p>
      ) : (
        <>
          <Chart entry={entry} />
          <details>
            <summary>{texts.table}</summary>
            <Hours entry={entry} />
          </details>
        </>
      )}
    </div>
  )
}

function latency(ms: number | null): string {
  return ms === null ? build.noData : build.ms(ms)
}

const barWidth = 12
const height = 96

/** A bar for each hour; errors are at its foot. */
function Chart({ entry }: { readonly entry: readonly Hour[] }) {
  const byHour = new Map(entry.map((hour) => [Date.parse(hour.at), hour]))
  const last = Math.max(...byHour.keys(), Math.floor(Date.now() / hourMs) * hourMs)
  const shown = Array.from({ length: hours }, (_, index) => last - (hours - 1 - index) * hourMs)
  const most = Math.max(...entry.map(({ requests }) => requests))
  const scale = (value: number) => (value === 0 ? 0 : Math.max(2, (value / most) * height))
  return (
    <div className="chart-frame">
      <p className="chart-legend soft">
        <span className="chart-key" /> {texts.perHour}
        <span className="chart-key chart-key-bad" /> {texts.failed}
      </p>
      <div className="chart-scale soft" aria-hidden>
        <span>{build.number(most)}</span>
        <span>0</span>
      </div>
      <svg
        className="chart"
        role="img"
        aria-label={texts.chart}
        viewBox={`0 0 ${hours * barWidth} ${height}`}
        preserveAspectRatio="none"
      >
        {shown.map((at, index) => {
          const { requests = 0, client_errors: client = 0, server_errors: server = 0 } = byHour.get(at) ?? {}
          const [all, failed] = [scale(requests), scale(client + server)]
          const x = index * barWidth + 1
          const width = barWidth - 2
          return (
            <g key={at}>
              <title>{`${formatExact(at)}: ${build.number(requests)}`}</title>
              <rect className="chart-back" x={x} y={height - 2} width={width} height={2} />
              <rect className="chart-bar" x={x} y={height - all} width={width} height={all} />
              <rect className="chart-bad" x={x} y={height - failed} width={width} height={failed} />
            </g>
          )
        })}
      </svg>
      <div className="chart-axis soft" aria-hidden>
        {texts.axis.map((label) => (
          <span key={label}>{label}</span>
        ))}
      </div>
    </div>
  )
}

function Hours({ entry }: { readonly entry: readonly Hour[] }) {
  const right = { isRight: true } as const
  return (
    <PlainTable
      label={texts.chart}
      rows={entry.toReversed()}
      rowKey={({ at }) => at}
      columns={[
        { name: 'at', label: texts.hour, render: ({ at }) => `${formatExact(Date.parse(at)).slice(0, 16)} UTC` },
        { name: 'requests', label: texts.requests, ...right, render: ({ requests }) => build.number(requests) },
        { name: 'client', label: texts.clientErrors, ...right, render: (hour) => build.number(hour.client_errors) },
        { name: 'server', label: texts.serverErrors, ...right, render: (hour) => build.number(hour.server_errors) },
        { name: 'p50', label: texts.p50, ...right, render: (hour) => latency(hour.p50_ms) },
        { name: 'p95', label: texts.p95, ...right, render: (hour) => latency(hour.p95_ms) },
      ]}
    />
  )
}
