import { revokeRest, type AccessSubject, type Leaving } from '../auth/index.ts'
import type { Host } from '../host/index.ts'
import { inOneTransaction, writeAudit, type Actor, type AuditEntry, type System } from '../store/index.ts'

/** A host with who acts on it: the user of a command, or the user and client of a request. */
export interface ActingHost extends Host {
  readonly actor: Actor
  /** On a server: applies changes to the caches of this process immediately. */
  applyChanges?(): Promise<void>
}

/** Writes an audit row in the transaction of a change. */
export type WriteAudit = (entry: AuditEntry) => Promise<void>

/**
 * Makes an administrative change and writes its audit rows, in one transaction.
 * @param work gets System within the transaction. It must not wait for anything but the database.
 */
export async function changeSystem<Value>(
  { system, actor, applyChanges }: ActingHost,
  work: (joined: System, audit: WriteAudit) => Promise<Value>,
): Promise<Value> {
  const value = await inOneTransaction(system, (joined) => work(joined, (entry) => writeAudit(joined, actor, entry)))
  await applyChanges?.()
  return value
}

/** Revokes the access of which the transaction of a change has left many rows. */
export async function revokeHostRest(
  { system, clock, applyChanges }: ActingHost,
  of: AccessSubject,
  leaving: Leaving,
): Promise<void> {
  if (leaving.isLeft !== true) return
  await revokeRest(system, { of, now: clock.now() }, leaving)
  await applyChanges?.()
}
