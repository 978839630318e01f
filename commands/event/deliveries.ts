import {
  Args,
  Flags,
  HostCommand,
  formatEndpoint,
  formatSpan,
  formatWait,
  limitFlag,
  toPrintable,
  sinceFlag,
} from '../../bin/cli/index.ts'
import type { DeliveryDetails, ListedDelivery } from '../../src/operate/index.ts'

const states = ['pending', 'retrying', 'delivered', 'dead', 'cancelled'] as const

export default class EventDeliveries extends HostCommand {
  static override description = 'List deliveries, or show one with its attempts'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --state dead --since 24h',
    '<%= config.bin %> <%= command.id %> --event todo_created --json',
    '<%= config.bin %> <%= command.id %> dlv_01KAK7W1R2M9ZQ4T7XBC',
  ]
  static override enableJsonFlag = true
  static override args = {
    delivery: Args.string({ description: 'Id of a delivery to show with its attempts and responses' }),
  }
  static override flags = {
    event: Flags.string({ description: 'Only deliveries of this event' }),
    subscription: Flags.string({ description: 'Only deliveries to this subscription, by id' }),
    endpoint: Flags.string({ description: 'Only deliveries to this URL' }),
    state: Flags.option({
      options: states,
      description: 'Only deliveries in this state; retrying means pending after a failure',
    })(),
    since: sinceFlag({
      description: 'Only deliveries dispatched since this time: how long ago, such as 24h, or an ISO time',
    }),
    limit: limitFlag,
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(EventDeliveries)
    if (args.delivery !== undefined) return this.#showOne(args.delivery)
    const { listHostDeliveries } = await import('../../src/operate/index.ts')
    const { loadDatabaseTime } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const deliveries: ListedDelivery[] = []
      let cursor: string | undefined
      do {
        const page = await listHostDeliveries(host, { ...flags, cursor, limit: flags.limit - deliveries.length })
        deliveries.push(...page.entry)
        cursor = page.next
      } while (cursor !== undefined && deliveries.length < flags.limit)
      this.#show(deliveries, await loadDatabaseTime(host.system))
      if (cursor !== undefined) this.note(`\nShowing the first ${flags.limit}; use --limit to show more.`)
      return { deliveries: deliveries.map(toJson) }
    })
  }

  async #showOne(id: string): Promise<unknown> {
    const { findHostDelivery } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const { delivery, attempts } = await findHostDelivery(host, id)
      const to = delivery.endpoint === undefined ? '(deleted)' : formatEndpoint(delivery.endpoint)
      this.print(`  ${id}   ${delivery.state}   ${delivery.event ?? '-'} → ${to}   ${delivery.user ?? ''}`.trimEnd())
      this.print()
      const cells = (of: (attempt: DeliveryDetails['attempts'][number]) => string) => attempts.map(of)
      this.printTable([
        { title: 'STARTED', cells: cells(({ startedAt }) => timeOf(startedAt)!) },
        {
          title: 'RESULT',
          cells: cells(({ outcome }) => toPrintable(outcome)),
          narrow: 'wrap',
          order: 1,
          minWidth: 12,
        },
        { title: 'TIME', cells: cells(({ latencyMs }) => `${latencyMs} ms`) },
        {
          title: 'ANSWER',
          cells: cells(({ answer }) => toPrintable(answer || '-')),
          narrow: 'wrap',
          minWidth: 16,
        },
      ])
      const log = attempts.map((attempt) => ({
        ...attemptToJson(attempt),
        answer: attempt.answer ?? null,
        headers: attempt.headers,
      }))
      return { ...toJson(delivery), attempts: log }
    })
  }

  #show(deliveries: readonly ListedDelivery[], now: number): void {
    if (deliveries.length === 0) {
      this.note('No deliveries found. List the events and their subscriptions with waypost event:list.')
      return
    }
    const cells = (of: (delivery: ListedDelivery) => string) => deliveries.map(of)
    this.printTable([
      { title: 'DELIVERY', cells: cells(({ id }) => id) },
      { title: 'STATE', cells: cells(({ state }) => state) },
      { title: 'EVENT', cells: cells(({ event }) => event ?? '-'), narrow: 'wrap', order: 1 },
      { title: 'ENDPOINT', cells: cells(describeEndpoint), narrow: 'wrap', order: 0 },
      { title: 'LAST', cells: cells(describeLast), narrow: 'cut', order: 2, minWidth: 7 },
      { title: 'WHEN', cells: cells((delivery) => describeTime(delivery, now)) },
    ])
  }
}

function describeEndpoint({ endpoint }: ListedDelivery): string {
  return endpoint === undefined ? '(deleted)' : formatEndpoint(endpoint).replace(/^https?:\/\//, '')
}

/** Describes the result and number of the last attempt: `503 ×2`. */
function describeLast({ last, attempts }: ListedDelivery): string {
  if (last === undefined) return '-'
  const result = last.outcome === 'delivered' || /^status \d+$/.test(last.outcome) ? String(last.status) : last.outcome
  return attempts === 1 ? result : `${result} ×${attempts}`
}

function describeTime({ dueAt, finishedAt, createdAt }: ListedDelivery, now: number): string {
  if (dueAt === undefined) return `${formatSpan(now - (finishedAt ?? createdAt))} ago`
  return dueAt > now ? formatWait(dueAt - now) : 'due'
}

function toJson({ id, endpoint, user, attempts, last, ...delivery }: ListedDelivery) {
  const { event, state, subscription, dueAt, createdAt, finishedAt } = delivery
  return {
    delivery: id,
    event: event ?? null,
    state,
    subscription,
    endpoint: endpoint === undefined ? null : formatEndpoint(endpoint),
    user: user ?? null,
    attempts,
    last: last === undefined ? null : attemptToJson(last),
    created: timeOf(createdAt),
    due: timeOf(dueAt),
    finished: timeOf(finishedAt),
  }
}

function attemptToJson({ startedAt, latencyMs, status, outcome }: NonNullable<ListedDelivery['last']>) {
  return { started: timeOf(startedAt), latency_ms: latencyMs, status: status ?? null, outcome }
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
