import type { Seed } from 'waypost'

/** An organization in which the user of `waypost dev` is an agent, with a ticket of a customer. */
export default (async (context) => {
  const db = context.connection('System')
  const tenant = await db.insertInto('app_tenant').values({ name: 'Acme' }).returning('id').executeTakeFirstOrThrow()
  await db
    .insertInto('app_member')
    .values([
      { tenant_id: tenant.id, user_name: 'dev', email: 'dev@example.com', role: 'agent' },
      { tenant_id: tenant.id, user_name: 'ann', email: 'ann@example.com', role: 'customer' },
      { tenant_id: tenant.id, user_name: 'bob', email: 'bob@example.com', role: 'customer' },
    ])
    .execute()
  const ticket = await db
    .insertInto('app_ticket')
    .values({
      tenant_id: tenant.id,
      author: 'ann',
      subject: 'The printer is offline',
      content: 'It was online yesterday.',
      status: 'open',
      insert_date: context.now().toISOString(),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  context.log.info({ ticket: ticket.id }, 'created an organization with a ticket')
}) satisfies Seed
