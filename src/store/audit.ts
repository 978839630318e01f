import { makeSortedId, toStorable } from '../kit/index.ts'
import type { System } from './system.ts'

/** Who makes an administrative change. */
export type Actor = CommandActor | HttpActor

/** The operating-system user of a command, who has all rights because the command has the secrets of System. */
export interface CommandActor {
  readonly how: 'command'
  readonly name: string
}

/** The user and client of an HTTP request. */
export interface HttpActor {
  readonly how: 'http'
  readonly userId: string
  readonly name: string
  readonly clientId: string
  /** The scopes of the request's token. */
  readonly scopes: readonly string[]
}

/** Every audited action: the kind of its subject, a dot, and what was done. */
export const auditActions = [
  'user.add',
  'user.change',
  'user.disable',
  'user.enable',
  'user.password',
  'user.scopes',
  'client.add',
  'client.change',
  'client.disable',
  'client.enable',
  'client.secret',
  'token.issue',
  'token.revoke',
  'subscription.add',
  'subscription.change',
  'subscription.delete',
  'subscription.disable',
  'subscription.enable',
  'subscription.secret',
  'delivery.cancel',
  'delivery.hold',
  'delivery.replay',
  'delivery.resume',
  'delivery.retry',
  'delivery.test',
  'cronjob.run',
  'release.activate',
  'release.prune',
  'release.rollback',
  'key.rotate',
  'secret.rotate',
  'issuer.change',
  'variable.set',
  'variable.unset',
  'system.restore',
  'migration.accept',
  'row.add',
  'row.change',
  'row.delete',
  'row.export',
  'row.import',
] as const
export type AuditAction = (typeof auditActions)[number]

/** The properties that an audit row may contain. Never add one whose values can be secret. */
type FactName =
  | 'artifacts'
  | 'client'
  | 'clients'
  | 'columns'
  | 'deliveries'
  | 'email'
  | 'endpoint'
  | 'event'
  | 'expires'
  | 'grants'
  | 'issuer'
  | 'message'
  | 'name'
  | 'public'
  | 'redirect_uris'
  | 'release'
  | 'releases'
  | 'removed'
  | 'resealed'
  | 'retired'
  | 'revoked'
  | 'rows'
  | 'scopes'
  | 'sessions'
  | 'since'
  | 'status'
  | 'subscription'
  | 'subscriptions'
  | 'tokens'
  | 'user'
  | 'withdrawn'

type FactValue = string | number | boolean | null | readonly string[]
/** Properties of the subject, before or after a change. The names are a fixed list, so that no secret gets in. */
export type AuditFacts = { readonly [Name in FactName]?: FactValue | undefined }

/** One administrative change. */
export interface AuditEntry {
  readonly action: AuditAction
  /** What was changed; its name is what people call it, or its id again. */
  readonly subject?: { readonly id?: string | undefined; readonly name: string } | undefined
  readonly before?: AuditFacts | undefined
  readonly after?: AuditFacts | undefined
}

const maxText = 200
const maxItems = 50

/** Writes an audit row. @param system with `db` in the transaction of the change */
export async function writeAudit(
  { db, now: databaseTime }: Pick<System, 'db' | 'now'>,
  actor: Actor,
  { action, subject, before, after }: AuditEntry,
): Promise<void> {
  const { now } = await db.selectNoFrom(databaseTime().as('now')).executeTakeFirstOrThrow()
  await db
    .insertInto('waypost_audit')
    .values({
      id: makeSortedId('aud_', now),
      created_at: now,
      how: actor.how,
      user_id: actor.how === 'http' ? actor.userId : null,
      user_name: limit(actor.name),
      client_id: actor.how === 'http' ? actor.clientId : null,
      action,
      kind: action.slice(0, action.indexOf('.')),
      subject_id: subject?.id === undefined ? null : limit(subject.id),
      subject_name: subject === undefined ? null : limit(subject.name),
      before: serialize(before),
      after: serialize(after),
    })
    .execute()
}

function serialize(facts: AuditFacts | undefined): string | null {
  if (facts === undefined) return null
  const limited = Object.entries(facts).map(([name, value]) => {
    if (typeof value === 'string') return [name, limit(value)]
    return [name, Array.isArray(value) ? value.slice(0, maxItems).map(limit) : value]
  })
  return JSON.stringify(Object.fromEntries(limited))
}

function limit(text: string): string {
  const clean = toStorable(text)
  return clean.length > maxText ? `${clean.slice(0, maxText - 1).toWellFormed()}…` : clean
}
