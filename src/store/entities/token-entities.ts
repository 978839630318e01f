import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

const SigningKey = defineEntity({
  name: 'SigningKey',
  tableName: 'waypost_key',
  properties: {
    id: p.text().primary(),
    public_jwk: p.text(),
    /** Encrypted. */
    private_jwk: p.text(),
    created_at: time(),
    retired_at: time().nullable(),
  },
})

export const AccessToken = defineEntity({
  name: 'AccessToken',
  tableName: 'waypost_token',
  indexes: [{ properties: ['user_id', 'created_at'] }],
  properties: {
    jti: p.text().primary(),
    user_id: p.text(),
    client_id: p.text().index(),
    family_id: p.text().nullable().index(),
    scope: p.text(),
    created_at: time(),
    expires_at: time().index(),
    revoked_at: time().nullable(),
    /** When a server last saw it used; updated from time to time. */
    used_at: time().nullable(),
  },
})

/** All tokens that descend from one grant. */
const TokenFamily = defineEntity({
  name: 'TokenFamily',
  tableName: 'waypost_token_family',
  properties: {
    id: p.text().primary(),
    user_id: p.text().index(),
    client_id: p.text().index(),
    /** The granted scope. A refresh with fewer scopes does not change it. */
    scope: p.text(),
    /** When the password was last entered; set for the backend. */
    password_at: time().nullable(),
    created_at: time(),
    expires_at: time().index(),
    revoked_at: time().nullable(),
    /** When a server last saw one of its tokens used; updated from time to time. */
    used_at: time().nullable(),
    /** The sign-in with which it ends; set for the pages of the backend, the portal and the API reference. */
    sign_in: p.text().nullable(),
  },
})

const RefreshToken = defineEntity({
  name: 'RefreshToken',
  tableName: 'waypost_refresh_token',
  properties: {
    /** SHA-256 of the token. */
    hash: p.text().primary(),
    family_id: p.text().index(),
    created_at: time(),
    expires_at: time().index(),
    used_at: time().nullable(),
    /** The scope requested when it was used. A retry must request the same. */
    used_scope: p.text().nullable(),
  },
})

const Throttle = defineEntity({
  name: 'Throttle',
  tableName: 'waypost_throttle',
  properties: { bucket: p.text().primary(), count: p.integer(), expires_at: time().index() },
})

/** Keys, tokens, and throttled attempts. */
export const tokenEntities = [SigningKey, AccessToken, TokenFamily, RefreshToken, Throttle] as const
