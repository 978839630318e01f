import { Type } from 'typebox'
import {
  listRouteTraffic,
  listTraffic,
  statisticSpans,
  type StatisticQuery,
  type Traffic,
} from '../../../operate/index.ts'
import { errors } from '../../errors.ts'
import { defineRoute } from '../route.ts'
import { formatTime, record, text, time } from '../shapes.ts'

const traffic = {
  requests: Type.Integer(),
  client_errors: Type.Integer(),
  server_errors: Type.Integer(),
  mean_ms: Type.Union([Type.Number(), Type.Null()]),
  p50_ms: Type.Union([Type.Number(), Type.Null()]),
  p95_ms: Type.Union([Type.Number(), Type.Null()]),
}

const query = record({
  from: time,
  to: time,
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

/** @throws WP_BACKEND_PERIODS */
function toQuery({
  from,
  to,
  by,
  route,
}: {
  from: string
  to: string
  by: 'minute' | 'hour'
  route?: string
}): StatisticQuery {
  const wanted = { span: by, from: Date.parse(from), to: Date.parse(to), route }
  const periods = Math.ceil((wanted.to - wanted.from) / statisticSpans[by])
  if (periods > maxPeriods) throw errors.WP_BACKEND_PERIODS({ periods, limit: maxPeriods, by })
  return wanted
}

const statistics = defineRoute({
  name: 'listStatistics',
  summary: 'Requests, errors and latency by minute or hour; periods without requests are left out',
  method: 'GET',
  path: '/statistics',
  scopes: ['backend.read'],
  query,
  answer: record({ entry: Type.Array(record({ at: time, ...traffic })) }),
  async handle({ host, query: wanted }) {
    const listed = await listTraffic(host.system, toQuery(wanted))
    return { entry: listed.map(({ at, ...rest }) => ({ at: formatTime(at), ...formatTraffic(rest) })) }
  },
})

const routeStatistics = defineRoute({
  name: 'listRouteStatistics',
  summary: 'Requests, errors and latency of each route that was called',
  method: 'GET',
  path: '/statistics/route',
  scopes: ['backend.read'],
  query,
  answer: record({ entry: Type.Array(record({ route: text, ...traffic })) }),
  async handle({ host, query: wanted }) {
    const listed = await listRouteTraffic(host.system, toQuery(wanted))
    return { entry: listed.map(({ route, ...rest }) => ({ route, ...formatTraffic(rest) })) }
  },
})

export const statisticRoutes = [statistics, routeStatistics]
