import { setTimeout as wait } from 'node:timers/promises'
import type { Action, Context, Request } from 'waypost'
import { selectTickets } from '../tickets.ts'

const everyMs = 1000

export default class LiveTickets implements Action<'GET /v1/ticket/live'> {
  handle({ lastEventId }: Request<'GET /v1/ticket/live'>, context: Context<'GET /v1/ticket/live'>) {
    const { member } = context.state
    if (!member.isAgent) throw context.problem(403, 'Only agents can follow the tickets of an organization')
    return follow()

    /** Ends when the client goes: then `context.signal` is aborted, and the loop is left at its next `yield`. */
    async function* follow() {
      const after = Number(lastEventId) // not a number if it is missing or not an id
      let last = Number.isSafeInteger(after) ? after : await findNewest()
      let sent: ReadonlySet<number> | undefined
      for (;;) {
        // A ticket can become visible after one with a higher id, so the last ids are read again.
        const tickets = await selectTickets(context, member)
          .where('id', '>', last - 50)
          .orderBy('id')
          .limit(150)
          .execute()
        for (const ticket of tickets) {
          if (sent === undefined ? ticket.id <= last : sent.has(ticket.id)) continue
          yield { id: String(ticket.id), event: 'ticket', data: ticket }
        }
        sent = new Set(tickets.map(({ id }) => id))
        last = Math.max(last, ...sent)
        await wait(everyMs, undefined, { signal: context.signal })
      }
    }

    async function findNewest(): Promise<number> {
      const newest = await selectTickets(context, member).orderBy('id', 'desc').limit(1).executeTakeFirst()
      return newest?.id ?? 0
    }
  }
}
