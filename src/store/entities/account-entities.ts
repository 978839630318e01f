import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

export const User = defineEntity({
  name: 'User',
  tableName: 'waypost_user',
  indexes: [{ name: 'waypost_user_created_index', properties: ['created_at', 'id'] }],
  properties: {
    id: p.text().primary(),
    name: p.text().unique(),
    email: p.text().nullable(),
    password_hash: p.text().nullable(),
    status: p.text().$type<'active' | 'disabled'>(),
    created_at: time(),
  },
})

export const UserScope = defineEntity({
  name: 'UserScope',
  tableName: 'waypost_user_scope',
  indexes: [{ name: 'waypost_user_scope_scope_index', properties: ['scope', 'user_id'] }],
  properties: { user_id: p.text().primary(), scope: p.text().primary() },
})

export const Client = defineEntity({
  name: 'Client',
  tableName: 'waypost_client',
  indexes: [
    { name: 'waypost_client_name_index', properties: ['name', 'id'] },
    { name: 'waypost_client_created_index', properties: ['created_at', 'id'] },
  ],
  properties: {
    id: p.text().primary(),
    name: p.text(),
    /** The owner, whose account client_credentials uses; null for the built-in login client. */
    user_id: p.text().nullable(),
    /** SHA-256 of the secret; null for a public client. */
    secret_hash: p.text().nullable(),
    /** Grant types, separated by spaces. */
    grants: p.text(),
    /** JSON array. */
    redirect_uris: p.text(),
    status: p.text().$type<'active' | 'disabled'>(),
    /** `owner` if its owner disabled it and may enable it again; null if an administrator did. */
    disabled_by: p.text().$type<'owner'>().nullable(),
    created_at: time(),
  },
})

export const ClientScope = defineEntity({
  name: 'ClientScope',
  tableName: 'waypost_client_scope',
  indexes: [{ name: 'waypost_client_scope_scope_index', properties: ['scope', 'client_id'] }],
  properties: { client_id: p.text().primary(), scope: p.text().primary() },
})

/** Users and clients with their scopes. */
export const accountEntities = [User, UserScope, Client, ClientScope] as const
