import type { Context, Request, RouteStep } from 'waypost'

/** Finds the organization of the caller, and whether the caller is an agent of it. Runs before every action below /v1. */
export default class LoadMember implements RouteStep {
  async handle(_request: Request, context: Context) {
    const { user } = context.principal!
    const member = await context
      .connection('System')
      .selectFrom('app_member')
      .select(['tenant_id', 'role'])
      .where('user_name', '=', user.name)
      .executeTakeFirstOrThrow(() => context.problem(403, `${user.name} is not a member of an organization`))
    return { name: user.name, tenantId: member.tenant_id, isAgent: member.role === 'agent' }
  }
}
