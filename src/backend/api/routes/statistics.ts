import { Type, type Static } from 'typebox'
import type { Host } from '../../../host/index.ts'
import {
  listRouteTraffic,
  listTraffic,
  loadDatabaseTime,
  statisticSpans,
  type StatisticQuery,
  type Traffic,
} from '../../../operate/index.ts'
import { errors } from '../../errors.ts'
import { defineRoute } from '../route.ts'
import { formatTime } from '../../../kit/index.ts'
import { record, text, time } from '../shapes.ts'

const traffic = {
  requests: Type.Integer(),
  client_errors: Type.Integer(),
  server_errors: Type.Integer(),
  mean_ms: Type.Union([Type.Number(), Type.Null()]),
  p50_ms: Type.Union([Type.Number(), Type.Null()]),
  p95_ms: Type.Union([Type.Number(), Type.Null()]),
}

const query = record({
  from: Type.Optional(time),
  to: Type.Optional(time),
  by: Type.Union([Type.Literal('minute'), Type.Literal('hour')]),
  route: Type.Optional(Type.String({ maxLength: 2048 })),
})

function formatTraffic({ requests, clientErrors, serverErrors, meanMs, p50Ms, p95Ms }: Traffic) {
  return {
    requests,
    client_errors: clientErrors,
    server_errors: serverErrors,
    mean_ms: meanMs ?? null,
    p50_ms: p50Ms ?? null,
    p95_ms: p95Ms ?? null,
  }
}

const maxPeriods = 2160 // 90 days by hour, or 36 hours by minute

const dayMs = 86_400_000

/**
 * Returns the query of a request: by default the last 24 hours by the clock of the database.
 * @throws WP_BACKEND_PERIODS
 */
async function toQuery(host: Host, { from, to, by, route }: Static<typeof query>): Promise<StatisticQuery> {
  const end = to === undefined ? (await loadDatabaseTime(host.system)) + statisticSpans[by] : Date.parse(to)
  const wanted = { span: by, from: from === undefined ? end - dayMs : Date.parse(from), to: end, route }
  const periods = Math.ceil((wanted.to - wanted.from) / statisticSpans[by])
  if (periods > maxPeriods) throw errors.WP_BACKEND_PERIODS({ periods, limit: maxPeriods, by })
  return wanted
}

const statistics = defineRoute({
  name: 'listStatistics',
  summary: 'Requests, errors and latency by minute or hour, and in total; periods without requests are omitted',
  method: 'GET',
  path: '/statistics',
  scopes: ['backend.read'],
  query,
  response: record({ entry: Type.Array(record({ at: time, ...traffic })), total: record(traffic) }),
  async handle({ host, query: wanted }) {
    const { periods, total } = await listTraffic(host.system, await toQuery(host, wanted))
    const entry = periods.map(({ at, ...rest }) => ({ at: formatTime(at), ...formatTraffic(rest) }))
    return { entry, total: formatTraffic(total) }
  },
})

const routeStatistics = defineRoute({
  name: 'listRouteStatistics',
  summary: 'Requests, errors and latency of each route that was called',
  method: 'GET',
  path: '/statistics/route',
  scopes: ['backend.read'],
  query,
  response: record({ entry: Type.Array(record({ route: text, ...traffic })) }),
  async handle({ host, query: wanted }) {
    const listed = await listRouteTraffic(host.system, await toQuery(host, wanted))
    return { entry: listed.map(({ route, ...rest }) => ({ route, ...formatTraffic(rest) })) }
  },
})

export const statisticRoutes = [statistics, routeStatistics] as const
