import type { Action, Context, Request } from 'waypost'
import { selectTickets } from './tickets.ts'

export default class Attachment implements Action<'GET /v1/attachment/:attachment_id'> {
  async handle(
    { params, query }: Request<'GET /v1/attachment/:attachment_id'>,
    context: Context<'GET /v1/attachment/:attachment_id'>,
  ) {
    const missing = () => context.problem(404, `There is no attachment ${params.attachment_id}`)
    const found = await context
      .connection('System')
      .selectFrom('app_attachment')
      .select(['ticket_id', 'file', 'name', 'type'])
      .where('id', '=', params.attachment_id)
      .executeTakeFirstOrThrow(missing)
    await selectTickets(context, context.state.member)
      .where('id', '=', found.ticket_id)
      .executeTakeFirstOrThrow(missing)
    const { name, type } = found
    return context.file(found.file, { root: context.env.ATTACHMENTS, name, type, inline: query.inline })
  }
}
