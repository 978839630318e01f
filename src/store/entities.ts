import { defineEntity, p } from '@mikro-orm/core'

// Property names are the column names. Points in time are integers: milliseconds since 1970, by the database's clock.
const time = () => p.bigint('number')

/** What System knows of itself: issuer, check value of the secret, whether `dev` made it. */
export const SystemFact = defineEntity({
  name: 'SystemFact',
  tableName: 'waypost_system',
  properties: { name: p.text().primary(), value: p.text() },
})

/** The one row whose lock puts changes into commit order. */
export const FeedHead = defineEntity({
  name: 'FeedHead',
  tableName: 'waypost_feed_head',
  properties: { id: p.integer().autoincrement(false).primary(), position: time() },
})

/** The change feed: what every running server must notice. */
export const FeedChange = defineEntity({
  name: 'FeedChange',
  tableName: 'waypost_feed',
  properties: {
    position: time().autoincrement(false).primary(),
    kind: p.text(),
    subject: p.text(),
    created_at: time(),
  },
})

export const User = defineEntity({
  name: 'User',
  tableName: 'waypost_user',
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
  properties: { user_id: p.text().primary(), scope: p.text().primary() },
})

export const Client = defineEntity({
  name: 'Client',
  tableName: 'waypost_client',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    /** Owner, as whom client_credentials acts; null for the built-in login client. */
    user_id: p.text().nullable(),
    /** SHA-256 of the secret; null for a public client. */
    secret_hash: p.text().nullable(),
    /** Grant types, separated by spaces. */
    grants: p.text(),
    /** JSON list. */
    redirect_uris: p.text(),
    status: p.text().$type<'active' | 'disabled'>(),
    created_at: time(),
  },
})

export const ClientScope = defineEntity({
  name: 'ClientScope',
  tableName: 'waypost_client_scope',
  properties: { client_id: p.text().primary(), scope: p.text().primary() },
})

export const SigningKey = defineEntity({
  name: 'SigningKey',
  tableName: 'waypost_key',
  properties: {
    id: p.text().primary(),
    public_jwk: p.text(),
    /** Sealed. */
    private_jwk: p.text(),
    created_at: time(),
    retired_at: time().nullable(),
  },
})

export const AccessToken = defineEntity({
  name: 'AccessToken',
  tableName: 'waypost_token',
  properties: {
    jti: p.text().primary(),
    user_id: p.text().index(),
    client_id: p.text().index(),
    family_id: p.text().nullable().index(),
    scope: p.text(),
    created_at: time(),
    expires_at: time().index(),
    revoked_at: time().nullable(),
  },
})

/** All tokens that descend from one grant. */
export const TokenFamily = defineEntity({
  name: 'TokenFamily',
  tableName: 'waypost_token_family',
  properties: {
    id: p.text().primary(),
    user_id: p.text().index(),
    client_id: p.text().index(),
    /** What was granted; a narrowed refresh keeps it for later. */
    scope: p.text(),
    created_at: time(),
    expires_at: time().index(),
    revoked_at: time().nullable(),
  },
})

export const RefreshToken = defineEntity({
  name: 'RefreshToken',
  tableName: 'waypost_refresh_token',
  properties: {
    /** SHA-256 of the token. */
    hash: p.text().primary(),
    family_id: p.text().index(),
    created_at: time(),
    expires_at: time(),
    used_at: time().nullable(),
    /** The scope asked for when it was used: a retry must ask for the same. */
    used_scope: p.text().nullable(),
  },
})

export const Throttle = defineEntity({
  name: 'Throttle',
  tableName: 'waypost_throttle',
  properties: { bucket: p.text().primary(), count: p.integer(), expires_at: time().index() },
})

export const ReleasePart = defineEntity({
  name: 'ReleasePart',
  tableName: 'waypost_release_part',
  properties: {
    hash: p.text().primary(),
    kind: p.text().$type<'project' | 'backend'>(),
    manifest: p.text(),
    created_at: time(),
  },
})

export const Release = defineEntity({
  name: 'Release',
  tableName: 'waypost_release',
  properties: {
    id: p.text().primary(),
    project_hash: p.text(),
    backend_hash: p.text(),
    message: p.text().nullable(),
    created_by: p.text(),
    created_at: time(),
  },
})

export const ReleaseArtifact = defineEntity({
  name: 'ReleaseArtifact',
  tableName: 'waypost_artifact',
  properties: { hash: p.text().primary(), content: p.text(), created_at: time() },
})

/** Which release is served: one row, locked by whoever activates. */
export const ActiveRelease = defineEntity({
  name: 'ActiveRelease',
  tableName: 'waypost_active',
  properties: {
    id: p.integer().autoincrement(false).primary(),
    release_id: p.text().nullable(),
    activated_at: time(),
    activated_by: p.text(),
  },
})

export const Server = defineEntity({
  name: 'Server',
  tableName: 'waypost_server',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    version: p.text(),
    release_id: p.text().nullable(),
    state: p.text().$type<'starting' | 'serving' | 'failed' | 'stopping'>(),
    error: p.text().nullable(),
    started_at: time(),
    heartbeat_at: time().index(),
  },
})

export const Subscription = defineEntity({
  name: 'Subscription',
  tableName: 'waypost_subscription',
  indexes: [{ properties: ['event', 'id'] }],
  uniques: [{ properties: ['user_id', 'event', 'endpoint'] }],
  properties: {
    id: p.text().primary(),
    user_id: p.text(),
    event: p.text(),
    endpoint: p.text(),
    status: p.text().$type<'active' | 'paused' | 'disabled'>(),
    /** Counts changes of the endpoint; a 410 disables only the revision that was posted to. */
    revision: p.integer(),
    /** Sealed. */
    secret: p.text(),
    created_at: time(),
  },
})

/** One dispatch of an event. */
export const Message = defineEntity({
  name: 'Message',
  tableName: 'waypost_message',
  indexes: [{ properties: ['fanned_out_at', 'created_at'] }],
  properties: {
    id: p.text().primary(),
    event: p.text(),
    /** The exact text of every POST's body. */
    data: p.text(),
    /** JSON list of the only users that receive it. */
    users: p.text().nullable(),
    created_at: time(),
    fanned_out_at: time().nullable(),
    /** Last subscription that has its delivery; the next chunk goes on behind it. */
    fan_cursor: p.text().nullable(),
  },
})

/** A message on its way to one subscription. */
export const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'waypost_delivery',
  indexes: [{ properties: ['status', 'due_at'] }],
  uniques: [{ properties: ['message_id', 'subscription_id'] }],
  properties: {
    id: p.text().primary(),
    message_id: p.text(),
    subscription_id: p.text().index(),
    status: p.text().$type<'pending' | 'delivered' | 'dead' | 'cancelled'>(),
    due_at: time(),
    /** Recorded attempts that were no success. */
    failures: p.integer(),
    /** Leases that ran out without an outcome. */
    lost: p.integer(),
    claim_id: p.text().nullable(),
    lease_until: time().nullable(),
    created_at: time(),
    finished_at: time().nullable(),
  },
})

/** One HTTP POST. */
export const Attempt = defineEntity({
  name: 'Attempt',
  tableName: 'waypost_attempt',
  properties: {
    id: p.text().primary(),
    delivery_id: p.text().index(),
    started_at: time().index(),
    latency_ms: p.integer(),
    /** HTTP status; null when there was no answer. */
    status: p.integer().nullable(),
    outcome: p.text(),
    /** The first 4 KB of the answer. */
    answer: p.text().nullable(),
  },
})

/** A cronjob of the active release: its last slot, and who runs or ran it. */
export const Cronjob = defineEntity({
  name: 'Cronjob',
  tableName: 'waypost_cronjob',
  properties: {
    name: p.text().primary(),
    schedule: p.text(),
    timezone: p.text(),
    /** The last slot that was taken; before the first one, since when slots count. */
    slot_at: time(),
    claim_id: p.text().nullable(),
    lease_until: time().nullable(),
    /** Name of the machine that runs it, or ran it last. */
    server: p.text().nullable(),
    started_at: time().nullable(),
    /** When the last run that came to an end did so, and how. */
    finished_at: time().nullable(),
    outcome: p.text().$type<'done' | 'failed'>().nullable(),
    error: p.text().nullable(),
    /** Runs in a row that failed or whose server was lost. */
    failures: p.integer(),
  },
})

export const entities = [
  SystemFact,
  FeedHead,
  FeedChange,
  User,
  UserScope,
  Client,
  ClientScope,
  SigningKey,
  AccessToken,
  TokenFamily,
  RefreshToken,
  Throttle,
  ReleasePart,
  Release,
  ReleaseArtifact,
  ActiveRelease,
  Server,
  Subscription,
  Message,
  Delivery,
  Attempt,
  Cronjob,
]
