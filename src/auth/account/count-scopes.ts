import type { System } from '../../store/index.ts'

export interface ScopeCount {
  readonly users: number
  readonly clients: number
}

/** How many users and clients have each scope that anybody has. */
export async function countScopes({ db }: System): Promise<ReadonlyMap<string, ScopeCount>> {
  const [users, clients] = await Promise.all([
    db
      .selectFrom('waypost_user_scope')
      .select((column) => ['scope', column.fn.countAll<number>().as('count')])
      .groupBy('scope')
      .execute(),
    db
      .selectFrom('waypost_client_scope')
      .select((column) => ['scope', column.fn.countAll<number>().as('count')])
      .groupBy('scope')
      .execute(),
  ])
  const counts = new Map<string, ScopeCount>()
  for (const { scope, count } of users) counts.set(scope, { users: count, clients: 0 })
  for (const { scope, count } of clients) counts.set(scope, { users: counts.get(scope)?.users ?? 0, clients: count })
  return counts
}
