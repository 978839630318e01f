import type { Action, Context, Request } from 'waypost'

export default class CreateTicket implements Action<'POST /v1/ticket'> {
  async handle({ body }: Request<'POST /v1/ticket'>, context: Context<'POST /v1/ticket'>) {
    const { tenantId, name } = context.state.member
    const { id, insert_date } = await context
      .connection('System')
      .insertInto('app_ticket')
      .values({ ...body, tenant_id: tenantId, author: name, status: 'open', insert_date: context.now().toISOString() })
      .returning(['id', 'insert_date'])
      .executeTakeFirstOrThrow()
    return { id, author: name, status: 'open' as const, ...body, insert_date }
  }
}
