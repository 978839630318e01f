import type { Kysely } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
import { splitScopes, consumerScope, isBackendScope } from '../account/scopes.ts'
import type { CheckedRequest } from './check-request.ts'
import { leadsToDevice } from '../account/redirect-uris.ts'

/** What a user lets a client do. */
export interface Consent {
  readonly userId: string
  readonly scopes: readonly string[]
}

/** Whether the user has to be asked: a consent from before counts for what it covered, and nobody asks for his own client. */
export async function needsConsent(system: System, request: CheckedRequest, consent: Consent): Promise<boolean> {
  if (request.prompts.has('consent') || !isAssured(request)) return true
  if (request.client.userId === consent.userId) return false
  const before = await selectConsent(system.db, request.client.id, consent.userId).executeTakeFirst()
  const covered = splitScopes(before?.scope ?? '')
  return !consent.scopes.every((scope) => covered.includes(scope))
}

/** Remembers a consent beside what the client was allowed before. */
export async function rememberConsent(system: System, request: CheckedRequest, consent: Consent): Promise<void> {
  if (!isAssured(request)) return
  const { client } = request
  await system.transaction(async (trx) => {
    const before = await selectConsent(trx, client.id, consent.userId)
      .$if(system.kind === 'postgresql', (query) => query.forUpdate()) // else a withdrawal at this moment would be undone
      .executeTakeFirst()
    const scopes = new Set([...splitScopes(before?.scope ?? ''), ...consent.scopes])
    const scope = [...scopes].toSorted().join(' ')
    await trx
      .insertInto('waypost_consent')
      .values({ user_id: consent.userId, client_id: client.id, scope, granted_at: system.now() })
      .onConflict((on) => on.columns(['user_id', 'client_id']).doUpdateSet({ scope, granted_at: system.now() }))
      .execute()
  })
}

function selectConsent(db: Kysely<SystemTables>, clientId: string, userId: string) {
  const query = db.selectFrom('waypost_consent').select('scope')
  return query.where('user_id', '=', userId).where('client_id', '=', clientId)
}

/**
 * Whether it is sure that the client itself gets the code. Any program on the user's machine can say that it is a client
 * without a secret, so such a one is asked about each time (RFC 8252 §8.6).
 */
function isAssured({ client, redirectUri }: CheckedRequest): boolean {
  return client.secretHash !== null || !leadsToDevice(redirectUri)
}

/** What Waypost's own scopes let a client do; a release describes its own. */
const own = new Map([
  [consumerScope, 'View your account and subscribe to events on your behalf'],
  ['backend.read', 'View everything on this server'],
  ['backend.write', 'Prepare changes to this server'],
  ['backend.deploy', 'Full control of this server'],
  ['backend.admin', 'Administer users, clients and security settings'],
])

/**
 * What is said of a scope where a client asks for it: nothing else of one of administration than what it is.
 * @param scopes the active release's
 */
export function describeScope(
  scopes: Readonly<Record<string, { readonly description?: string }>>,
  name: string,
): string | undefined {
  if (isBackendScope(name)) return own.get(name)
  return (Object.hasOwn(scopes, name) ? scopes[name]?.description : undefined) ?? own.get(name)
}
