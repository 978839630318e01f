import type { Action, Context, Request } from 'waypost'
import { expectReply } from '../overdue.ts'

export default class CreateTicket implements Action<'POST /v1/ticket'> {
  async handle({ body }: Request<'POST /v1/ticket'>, context: Context<'POST /v1/ticket'>) {
    const { tenantId, name } = context.state.member
    return context.transaction('System', async (db) => {
      const ticket = await db
        .insertInto('app_ticket')
        .values({ ...body, tenant_id: tenantId, author: name, insert_date: context.now().toISOString() })
        .returning(['id', 'author', 'subject', 'content', 'status', 'priority', 'insert_date'])
        .executeTakeFirstOrThrow()
      await expectReply(context, ticket.id)
      return ticket
    })
  }
}
