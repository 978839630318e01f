import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

const count = () => p.bigint('number')

/** The responses of a method in a minute or an hour, of all servers. */
const Statistic = defineEntity({
  name: 'Statistic',
  tableName: 'waypost_statistic',
  properties: {
    /** The length of the period in milliseconds. */
    span: p.integer().primary(),
    /** The start of the period. */
    at: time().primary(),
    /** Method and path: `GET /todo/:id`. */
    route: p.text().primary(),
    /** Responses with 2xx. */
    success: count(),
    /** Responses with 3xx. */
    redirect: count(),
    /** Responses with 4xx. */
    client_error: count(),
    /** Responses with 5xx. */
    server_error: count(),
    /** The sum of all latencies in milliseconds. */
    sum_ms: p.double(),
    /** Responses by latency, in the order of the bounds in `latencyBoundsMs`. */
    bucket_0: count(),
    bucket_1: count(),
    bucket_2: count(),
    bucket_3: count(),
    bucket_4: count(),
    bucket_5: count(),
    bucket_6: count(),
    bucket_7: count(),
    bucket_8: count(),
    bucket_9: count(),
    bucket_10: count(),
    bucket_11: count(),
    bucket_12: count(),
  },
})

export const statisticEntities = [Statistic] as const
