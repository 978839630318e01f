import type { Action, Context, Request } from 'waypost'
import { findTicket } from '../tickets.ts'

export default class AddComment implements Action<'POST /v1/ticket/:ticket_id/comment'> {
  async handle(
    { params, body }: Request<'POST /v1/ticket/:ticket_id/comment'>,
    context: Context<'POST /v1/ticket/:ticket_id/comment'>,
  ) {
    const { member } = context.state
    const ticket = await findTicket(context, member, params.ticket_id)
    return context
      .connection('System')
      .insertInto('app_comment')
      .values({ ...body, ticket_id: ticket.id, author: member.name, insert_date: context.now().toISOString() })
      .returning(['id', 'author', 'content', 'insert_date'])
      .executeTakeFirstOrThrow()
  }
}
