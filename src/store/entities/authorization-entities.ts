import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

/** A login on the pages of the authorization endpoint. */
const Session = defineEntity({
  name: 'Session',
  tableName: 'waypost_session',
  properties: {
    /** SHA-256 of the cookie's value. */
    hash: p.text().primary(),
    user_id: p.text().index(),
    /** SHA-256 of the user's password hash. A password change ends the session. */
    password_check: p.text(),
    created_at: time(),
    /** When the password was last entered. */
    password_at: time(),
    expires_at: time().index(),
    /** The same for all sessions of a browser in which a user enters the password again; null in sessions of older servers. */
    sign_in: p.text().nullable(),
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
    /** As sent in the request; empty if it had none. */
    redirect_uri: p.text(),
    scope: p.text(),
    /** The separator of the scopes in the request. */
    separator: p.text().$type<' ' | ','>(),
    /** The S256 challenge of PKCE (RFC 7636). */
    challenge: p.text(),
    created_at: time(),
    expires_at: time().index(),
    used_at: time().nullable(),
    /** When the password was last entered. */
    password_at: time().nullable(),
    /** The token family for which it was exchanged. */
    family_id: p.text().nullable(),
    /** That of its session. */
    sign_in: p.text().nullable(),
  },
})

/** The scopes that a user has granted to a client. */
const Consent = defineEntity({
  name: 'Consent',
  tableName: 'waypost_consent',
  properties: { user_id: p.text().primary(), client_id: p.text().primary(), scope: p.text(), granted_at: time() },
})

/** The state of the authorization endpoint. */
export const authorizationEntities = [Session, Code, Consent] as const
