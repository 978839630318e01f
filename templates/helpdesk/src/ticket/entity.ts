import type { Action, Context, Request } from 'waypost'
import { findTicket } from '../tickets.ts'

export default class TicketEntity implements Action<'GET /v1/ticket/:ticket_id'> {
  async handle({ params }: Request<'GET /v1/ticket/:ticket_id'>, context: Context<'GET /v1/ticket/:ticket_id'>) {
    const ticket = await findTicket(context, context.state.member, params.ticket_id)
    const db = context.connection('System')
    const comments = await db
      .selectFrom('app_comment')
      .select(['id', 'author', 'content', 'insert_date'])
      .where('ticket_id', '=', ticket.id)
      .orderBy('id')
      .execute()
    const attachments = await db
      .selectFrom('app_attachment')
      .select(['id', 'name', 'type', 'size'])
      .where('ticket_id', '=', ticket.id)
      .orderBy('id')
      .execute()
    const charge = await db
      .selectFrom('app_charge')
      .select('cents')
      .where('ticket_id', '=', ticket.id)
      .executeTakeFirst()
    return { ...ticket, ...(charge !== undefined && { charge: charge.cents }), comments, attachments }
  }
}
