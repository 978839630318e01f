import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { loadUserScopes } from './users.ts'

/** An account as its user sees it. */
export interface OwnAccount {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly scopes: readonly string[]
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

export async function loadAccount({ db }: System, userId: string): Promise<OwnAccount> {
  const row = await db
    .selectFrom('waypost_user')
    .select(['id', 'name', 'email', 'created_at'])
    .where('id', '=', userId)
    .executeTakeFirst()
  if (row === undefined) throw errors.WP_AUTH_LOGIN() // removed since the guard looked
  const { created_at: createdAt, ...account } = row
  return { ...account, scopes: await loadUserScopes(db, userId), createdAt }
}

export async function changeEmail({ db }: System, userId: string, email: string | null): Promise<void> {
  await db.updateTable('waypost_user').set({ email }).where('id', '=', userId).execute()
}
