import type { Action, Context, Request } from 'waypost'
import { mailTo } from '../mail.ts'
import { cancelEscalation, expectReply } from '../overdue.ts'
import { findTicket } from '../tickets.ts'

export default class ChangeTicket implements Action<'PATCH /v1/ticket/:ticket_id'> {
  async handle(
    { params, body: { status } }: Request<'PATCH /v1/ticket/:ticket_id'>,
    context: Context<'PATCH /v1/ticket/:ticket_id'>,
  ) {
    const ticket = { ...(await findTicket(context, context.state.member, params.ticket_id)), status }
    return context.transaction('System', async (db) => {
      const { numUpdatedRows } = await db
        .updateTable('app_ticket')
        .set({ status })
        .where('id', '=', ticket.id)
        .where('status', '<>', status)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) return ticket
      if (status === 'open') await expectReply(context, ticket.id)
      else {
        await cancelEscalation(context, ticket.id)
        await context.dispatch('ticket_closed', ticket)
        await mailTo(context, ticket.author, { subject: `Closed: ${ticket.subject}`, text: 'Your ticket was closed.' })
      }
      return ticket
    })
  }
}
