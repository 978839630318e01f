import type { Action, Context, Request } from 'waypost'
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
      if (numUpdatedRows === 1n && status === 'closed') await context.dispatch('ticket_closed', ticket)
      return ticket
    })
  }
}
