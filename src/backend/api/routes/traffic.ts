import { Type } from 'typebox'
import { errors } from '../../errors.ts'
import { defineRoute } from '../route.ts'
import { formatTime } from '../../../kit/index.ts'
import { maybeText, record, text, time } from '../shapes.ts'

const traffic = defineRoute({
  name: 'streamTraffic',
  summary:
    'The last requests to waypost dev, oldest first, then each one as it happens. Only in dev: a server sees only its own',
  method: 'GET',
  path: '/traffic',
  scopes: ['backend.operate'],
  /** The number of the last request that the caller knows. */
  query: record({ after: Type.Optional(Type.String({ pattern: '^\\d{1,15}$' })) }),
  lines: record({
    number: Type.Integer(),
    at: time,
    method: text,
    path: text,
    /** The pattern of its route, such as `/todo/:id`. */
    route: maybeText,
    status: Type.Integer(),
    ms: Type.Number(),
    user: maybeText,
    client: maybeText,
    /** Why it was rejected. */
    reason: maybeText,
    code: maybeText,
  }),
  async handle({ traffic: log, query: { after = '0' } }) {
    if (log === undefined) throw errors.WP_BACKEND_TRAFFIC()
    return log.stream(Number(after), (one) => ({
      number: one.number,
      at: formatTime(one.at),
      method: one.method,
      path: one.path,
      route: one.route ?? null,
      status: one.status,
      ms: one.ms,
      user: one.user ?? null,
      client: one.client ?? null,
      reason: one.reason ?? null,
      code: one.code ?? null,
    }))
  },
})

export const trafficRoutes = [traffic] as const
