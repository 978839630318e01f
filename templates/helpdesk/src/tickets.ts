import type { Context, StateOf } from 'waypost'
import type LoadMember from './steps/member.ts'

type Member = StateOf<typeof LoadMember>

/** Selects the tickets that a member may see: agents those of their organization, customers their own. */
export function selectTickets(context: Context, { tenantId, isAgent, name }: Member) {
  const tickets = context
    .connection('System')
    .selectFrom('app_ticket')
    .select(['id', 'author', 'subject', 'content', 'status', 'priority', 'insert_date'])
    .where('tenant_id', '=', tenantId)
  return isAgent ? tickets : tickets.where('author', '=', name)
}

/** @throws a 404 problem for a ticket that the member may not see, as for one that does not exist */
export async function findTicket(context: Context, member: Member, id: number) {
  return selectTickets(context, member)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(() => context.problem(404, `There is no ticket ${id}`))
}
