import { isUuid, sortedIdPrefix, type Since } from '../kit/index.ts'
import { listPage, listRows, type AuditFacts, type Page } from '../store/index.ts'
import type { Host } from '../host/index.ts'
import { resolveSince } from './events/messages.ts'

/** One administrative change. */
export interface ListedAudit {
  readonly id: string
  /** Milliseconds since 1970 by the database's clock. */
  readonly at: number
  readonly how: 'command' | 'http'
  /** The user of the token; for a command the operating-system user, who has no id. */
  readonly user: { readonly id: string | null; readonly name: string }
  readonly clientId: string | null
  /** For example `user.add`. */
  readonly action: string
  readonly kind: string
  readonly subject: { readonly id: string | null; readonly name: string } | null
  readonly before: AuditFacts | null
  readonly after: AuditFacts | null
}

export interface AuditFilter {
  readonly since?: Since | undefined
  /** The name or id of a user, or the name of an operating-system user. */
  readonly user?: string | undefined
  /** An action such as `user.add`, or all actions of a kind, such as `user`. */
  readonly action?: string | undefined
  /** Changes of subjects with exactly this name. */
  readonly subject?: string | undefined
  /** Changes of subjects with exactly this id; of a row, its key. */
  readonly subjectId?: string | undefined
  /** Newest first by default. */
  readonly isOldestFirst?: boolean | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

/** Lists the audit log. @throws WP_STORE_CURSOR */
export async function listHostAudit(
  { system }: Pick<Host, 'system'>,
  { since, user, action, subject, subjectId, isOldestFirst = false, cursor, limit }: AuditFilter,
): Promise<Page<ListedAudit>> {
  const from = since === undefined ? undefined : sortedIdPrefix('aud_', await resolveSince(system, since))
  const byId = user !== undefined && isUuid(user)
  const [known] = byId ? await listRows(system, 'User', { where: { id: user }, limit: 1 }) : []
  const where = {
    ...(from === undefined ? {} : { id: { $gte: from } }),
    ...(user === undefined ? {} : { user_name: known?.name ?? user }),
    ...(known === undefined ? {} : { user_id: known.id }),
    ...(subject === undefined ? {} : { subject_name: subject }),
    ...(subjectId === undefined ? {} : { subject_id: subjectId }),
    ...(action === undefined ? {} : action.includes('.') ? { action } : { kind: action }),
  }
  const sort = [['id', isOldestFirst ? 'asc' : 'desc']] as const
  const page = await listPage(system, 'Audit', { where, sort, cursor, limit })
  return { ...page, entry: page.entry.map(toListed) }
}

type Row = Awaited<ReturnType<typeof listRows<'Audit'>>>[number]

function toListed({ id, how, action, kind, ...row }: Row): ListedAudit {
  const { subject_id: subjectId, subject_name: subjectName } = row
  return {
    id,
    at: row.created_at,
    how,
    user: { id: row.user_id ?? null, name: row.user_name },
    clientId: row.client_id ?? null,
    action,
    kind,
    subject: typeof subjectName === 'string' ? { id: subjectId ?? null, name: subjectName } : null,
    before: parseFacts(row.before),
    after: parseFacts(row.after),
  }
}

function parseFacts(json: string | null | undefined): AuditFacts | null {
  return typeof json === 'string' ? (JSON.parse(json) as AuditFacts) : null
}
