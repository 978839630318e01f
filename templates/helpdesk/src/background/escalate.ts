import type { Action, Context, Request } from 'waypost'
import { mailTo } from '../mail.ts'

/** Runs in a transaction, because the listener has `once`: the priority changes and the mails are dispatched, or neither. */
export default class Escalate implements Action<'listener:escalate'> {
  async handle({ body }: Request<'listener:escalate'>, context: Context<'listener:escalate'>) {
    const db = context.connection('System')
    const ticket = await db
      .updateTable('app_ticket')
      .set({ priority: 'high' })
      .where('id', '=', body.ticket_id)
      .where('status', '=', 'open')
      .returning(['id', 'tenant_id', 'subject', 'content'])
      .executeTakeFirst()
    if (ticket === undefined) throw context.discard('The ticket was closed in the meantime')
    const agents = await db
      .selectFrom('app_member')
      .select('user_name')
      .where('tenant_id', '=', ticket.tenant_id)
      .where('role', '=', 'agent')
      .execute()
    for (const { user_name } of agents)
      await mailTo(context, user_name, { subject: `Overdue: ${ticket.subject}`, text: ticket.content })
  }
}
