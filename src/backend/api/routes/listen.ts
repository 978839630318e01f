import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { listenToEvent } from '../../../operate/index.ts'
import { errors } from '../../errors.ts'
import { defineRoute } from '../route.ts'
import { formatTime, maybeText, record, text, time } from '../shapes.ts'

const listen = defineRoute({
  name: 'listenToEvent',
  summary: 'Subscribes the caller to an event and streams its deliveries until the stream is closed. Only in dev',
  method: 'GET',
  path: '/event/:name/listen',
  scopes: ['backend.operate'],
  params: record({ name: Type.String({ maxLength: 200 }) }),
  lines: record({
    at: time,
    /** The id of the delivery. */
    id: text,
    body: text,
    /** What is wrong with the signature; null if it is valid. */
    problem: maybeText,
  }),
  async handle({ host, params: { name }, principal, traffic }) {
    if (traffic === undefined) throw errors.WP_BACKEND_TRAFFIC()
    const listening = await listenToEvent(host, {
      event: name,
      user: principal.user.name,
      port: 0,
      answer: 204,
      onDelivery({ id, body, problem = null }) {
        stream.push(`${JSON.stringify({ at: formatTime(host.clock.now()), id, body, problem })}\n`)
      },
    })
    const stream = new Readable({ read() {} })
    // The next listener removes a subscription that remains, for example because the server is stopping.
    stream.once('close', () => void listening.close().catch(() => undefined))
    traffic.follow(stream)
    return stream
  },
})

export const listenRoutes = [listen]
