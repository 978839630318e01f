import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

/** Somebody who is logged in on the pages of the authorization endpoint. */
const Session = defineEntity({
  name: 'Session',
  tableName: 'waypost_session',
  properties: {
    /** SHA-256 of the cookie's value. */
    hash: p.text().primary(),
    user_id: p.text().index(),
    /** SHA-256 of the user's password hash: with another password the session is over. */
    password_check: p.text(),
    created_at: time(),
    /** When the password was last entered. */
    password_at: time(),
    expires_at: time().index(),
  },
})

/** An authorization code (RFC 6749 §4.1). */
const Code = defineEntity({
  name: 'Code',
  tableName: 'waypost_code',
  properties: {
    /** SHA-256 of the code. */
    hash: p.text().primary(),
    client_id: p.text(),
    user_id: p.text(),
    /** As the request sent it; empty if it sent none. */
    redirect_uri: p.text(),
    scope: p.text(),
    /** What separated the scopes of the request. */
    separator: p.text().$type<' ' | ','>(),
    /** PKCE's S256 challenge (RFC 7636). */
    challenge: p.text(),
    created_at: time(),
    expires_at: time().index(),
    used_at: time().nullable(),
    /** The family of what it was exchanged for. */
    family_id: p.text().nullable(),
  },
})

/** What a user let a client do on his behalf. */
const Consent = defineEntity({
  name: 'Consent',
  tableName: 'waypost_consent',
  properties: { user_id: p.text().primary(), client_id: p.text().primary(), scope: p.text(), granted_at: time() },
})

/** What the authorization endpoint remembers. */
export const authorizationEntities = [Session, Code, Consent] as const
