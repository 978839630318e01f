import { Type } from 'typebox'
import { listenToEvent } from '../../../operate/index.ts'
import { errors } from '../../errors.ts'
import { defineRoute } from '../route.ts'
import { formatTime } from '../../../kit/index.ts'
import { maybeText, record, text, time } from '../shapes.ts'

const listen = defineRoute({
  name: 'listenToEvent',
  summary: 'Subscribes the caller to an event and streams its deliveries until the stream is closed. Only in dev',
  method: 'GET',
  path: '/event/:name/listen',
  scopes: ['backend.operate'],
  params: record({ name: Type.String({ maxLength: 200 }) }),
  /** Any text that the reader sends each time it continues. Another reader has another one. */
  query: record({ reader: Type.Optional(Type.String({ maxLength: 64 })) }),
  lines: record({
    at: time,
    /** The id of the delivery. */
    id: text,
    body: text,
    /** What is wrong with the signature; null if it is valid. */
    problem: maybeText,
  }),
  async handle({ host, params: { name }, query: { reader = '' }, principal, traffic }) {
    if (traffic === undefined) throw errors.WP_BACKEND_TRAFFIC()
    return traffic.streamSource(JSON.stringify([principal.user.id, name, reader]), (push) =>
      listenToEvent(host, {
        event: name,
        user: principal.user.name,
        port: 0,
        status: 204,
        onDelivery: ({ id, body, problem = null }) => push({ at: formatTime(host.clock.now()), id, body, problem }),
      }),
    )
  },
})

export const listenRoutes = [listen] as const
