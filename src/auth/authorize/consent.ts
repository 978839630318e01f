import type { Kysely } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
import { splitScopes, consumerScope, isBackendScope } from '../account/scopes.ts'
import type { CheckedRequest } from './check-request.ts'
import { leadsToDevice } from '../account/redirect-uris.ts'
import { isOwnPages } from '../account/clients.ts'

/** The scopes that a user allows a client. */
export interface Consent {
  readonly userId: string
  readonly scopes: readonly string[]
}

/**
 * Whether to ask the user. Earlier consent remains valid for its scopes; a user's own clients, the backend and the portal
 * need none.
 */
export async function needsConsent(system: System, request: CheckedRequest, consent: Consent): Promise<boolean> {
  if (isOwnPages(request.client.id)) return false
  if (request.prompts.has('consent') || !isAuthenticClient(request)) return true
  if (request.client.userId === consent.userId) return false
  const before = await selectConsent(system.db, request.client.id, consent.userId).executeTakeFirst()
  const covered = splitScopes(before?.scope ?? '')
  return !consent.scopes.every((scope) => covered.includes(scope))
}

/** Stores a consent in addition to earlier ones. */
export async function storeConsent(system: System, request: CheckedRequest, consent: Consent): Promise<void> {
  if (!isAuthenticClient(request)) return
  const { client } = request
  await system.transaction(async (trx) => {
    const before = await selectConsent(trx, client.id, consent.userId)
      // Otherwise a concurrent withdrawal would be undone
      .$if(system.kind === 'postgresql', (query) => query.forUpdate())
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
 * Whether the code is certain to reach the client itself. Any program on a user's device can impersonate a public
 * client, so consent for these is asked every time (RFC 8252 §8.6).
 */
function isAuthenticClient({ client, redirectUri }: CheckedRequest): boolean {
  return client.secretHash !== null || !leadsToDevice(redirectUri)
}

/** Descriptions of Waypost's own scopes. A release describes its own scopes. */
const ownDescriptions = new Map([
  [consumerScope, 'View your account and subscribe to events on your behalf'],
  ['backend.read', 'View everything on this server'],
  ['backend.operate', 'Read and resend deliveries, manage subscriptions and run cronjobs'],
  ['backend.write', 'Prepare changes to this server'],
  ['backend.data', 'See and change all rows of the database'],
  ['backend.deploy', 'Full control of this server'],
  ['backend.admin', 'Administer users, clients and security settings'],
])

/**
 * Returns the description of a scope for the consent page. Scopes of administration always have Waypost's own
 * description.
 * @param scopes those of the active release
 */
export function describeScope(
  scopes: Readonly<Record<string, { readonly description?: string }>>,
  name: string,
): string | undefined {
  if (isBackendScope(name)) return ownDescriptions.get(name)
  return (Object.hasOwn(scopes, name) ? scopes[name]?.description : undefined) ?? ownDescriptions.get(name)
}
