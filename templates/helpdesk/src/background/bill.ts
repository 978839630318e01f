import type { Action, Context, Request } from 'waypost'

const cents = 1500

/** Charges each ticket once, even if it is reopened and closed again. */
export default class Bill implements Action<'listener:bill'> {
  async handle({ body: { id } }: Request<'listener:bill'>, context: Context<'listener:bill'>) {
    const db = context.connection('System')
    const { tenant_id } = await db
      .selectFrom('app_ticket')
      .select('tenant_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    await db
      .insertInto('app_charge')
      .values({ ticket_id: id, tenant_id, cents, insert_date: context.now().toISOString() })
      .onConflict((conflict) => conflict.column('ticket_id').doNothing())
      .execute()
  }
}
