import { sql, type RawBuilder } from 'kysely'
import { jsonRows, type System } from '../store/index.ts'
import { scopesOf, type EventCatalog } from './message/catalog.ts'

/**
 * What the events of a catalog require, as the table `term` of a `with` clause: one row for each scope of which a
 * subscriber needs one, or one row without a scope.
 */
export function eventTerms(system: System, catalog: EventCatalog): RawBuilder<unknown> {
  const terms = Object.entries(catalog).flatMap(([event, definition]) => {
    if (definition.private === true) return []
    const scopes = scopesOf(definition)
    return scopes.length === 0 ? [[event, null]] : scopes.map((scope) => [event, scope])
  })
  return sql`term as materialized (
    select value ->> 0 as event, value ->> 1 as scope from ${jsonRows(system, terms)})`
}

/**
 * Whether the user `u` of the subscription `s` may receive its event, given the table `term` of `eventTerms`, and the
 * client `creator` that made the subscription, if any, may act. A scope of the user counts if the token that made the
 * subscription had it and the client still has it. Subscriptions made by a login, or before clients were recorded, have
 * all scopes of their user.
 */
export function isRecipientAllowed(system: System): RawBuilder<boolean> {
  const position = system.kind === 'sqlite' ? sql`instr` : sql`strpos`
  return sql<boolean>`(u.status = 'active' and (s.client_id is null or creator.status = 'active') and exists (
    select 1 from term where term.event = s.event and (term.scope is null or exists (
      select 1 from waypost_user_scope granted where granted.user_id = u.id and granted.scope = term.scope
        and (s.scope is null or ${position}(' ' || s.scope || ' ', ' ' || granted.scope || ' ') > 0)
        and (s.client_id is null or creator.user_id is null or exists (
          select 1 from waypost_client_scope given
          where given.client_id = creator.id and given.scope = granted.scope))))))`
}
