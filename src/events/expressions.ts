import { sql, type RawBuilder } from 'kysely'
import { jsonRows, type System } from '../store/index.ts'
import { scopesOf, type EventCatalog } from './message/catalog.ts'

/**
 * Whether the client `creator` of the subscription `s` may act: it exists and is not disabled, or the subscription has
 * none.
 */
export const isCreatorActive = sql<boolean>`(s.client_id is null or creator.status = 'active')`

/**
 * Whether the scope `granted` of the user of the subscription `s` applies to it: the token that created the
 * subscription had the scope, and its client `creator` still has it. Subscriptions created by a login, or before
 * clients were recorded, have all scopes of their user. Does not include `isCreatorActive`.
 */
export function isScopeEffective({ kind }: System): RawBuilder<boolean> {
  const position = kind === 'sqlite' ? sql`instr` : sql`strpos`
  return sql<boolean>`(s.scope is null or ${position}(' ' || s.scope || ' ', ' ' || granted.scope || ' ') > 0)
    and (s.client_id is null or creator.user_id is null or exists (
      select 1 from waypost_client_scope given where given.client_id = creator.id and given.scope = granted.scope))`
}

/**
 * What the events of a catalog require, as a table with the columns `event` and `scope`: one row for each scope of which
 * a subscriber needs one, or one row without a scope.
 */
export function eventTerms(system: System, catalog: EventCatalog): RawBuilder<unknown> {
  const terms = Object.entries(catalog).flatMap(([event, definition]) => {
    const scopes = scopesOf(definition)
    return scopes.length === 0 ? [[event, null]] : scopes.map((scope) => [event, scope])
  })
  return sql`(select value ->> 0 as event, value ->> 1 as scope from ${jsonRows(system, terms)})`
}

/**
 * Whether the user `u` of the subscription `s` and its client `creator` may receive its event, given the table `term` of
 * `eventTerms`.
 */
export function isRecipientAllowed(system: System): RawBuilder<boolean> {
  return sql<boolean>`(u.status = 'active' and ${isCreatorActive} and exists (
    select 1 from term where term.event = s.event and (term.scope is null or exists (
      select 1 from waypost_user_scope granted
      where granted.user_id = u.id and granted.scope = term.scope and ${isScopeEffective(system)}))))`
}
