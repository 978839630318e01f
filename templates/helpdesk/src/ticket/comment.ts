import type { Action, Context, Request } from 'waypost'
import { mailTo } from '../mail.ts'
import { cancelEscalation, expectReply } from '../overdue.ts'
import { findTicket } from '../tickets.ts'

export default class AddComment implements Action<'POST /v1/ticket/:ticket_id/comment'> {
  async handle(
    { params, body }: Request<'POST /v1/ticket/:ticket_id/comment'>,
    context: Context<'POST /v1/ticket/:ticket_id/comment'>,
  ) {
    const { member } = context.state
    const { id, author, subject, status } = await findTicket(context, member, params.ticket_id)
    return context.transaction('System', async (db) => {
      const comment = await db
        .insertInto('app_comment')
        .values({ ...body, ticket_id: id, author: member.name, insert_date: context.now().toISOString() })
        .returning(['id', 'author', 'content', 'insert_date'])
        .executeTakeFirstOrThrow()
      if (member.isAgent) {
        await db.updateTable('app_ticket').set({ priority: 'normal' }).where('id', '=', id).execute()
        await cancelEscalation(context, id)
        await mailTo(context, author, { subject: `Re: ${subject}`, text: body.content })
      } else if (status === 'open') await expectReply(context, id)
      return comment
    })
  }
}
