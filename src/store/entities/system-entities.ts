import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

/** Facts about System: issuer, check value of the secret, whether `dev` created it. */
const SystemFact = defineEntity({
  name: 'SystemFact',
  tableName: 'waypost_system',
  properties: { name: p.text().primary(), value: p.text() },
})

/** A single row whose lock puts changes into commit order. */
const FeedHead = defineEntity({
  name: 'FeedHead',
  tableName: 'waypost_feed_head',
  properties: { id: p.integer().autoincrement(false).primary(), position: time() },
})

/** The change feed: changes that every running server must apply. */
const FeedChange = defineEntity({
  name: 'FeedChange',
  tableName: 'waypost_feed',
  properties: {
    position: time().autoincrement(false).primary(),
    kind: p.text(),
    subject: p.text(),
    created_at: time(),
  },
})

const Server = defineEntity({
  name: 'Server',
  tableName: 'waypost_server',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    version: p.text(),
    release_id: p.text().nullable(),
    state: p.text().$type<'starting' | 'swapping' | 'serving' | 'failed' | 'stopping'>(),
    /** Why the release in `wanted_id` failed to start. */
    error: p.text().nullable(),
    /** The release that it is starting or failed to start. Meanwhile it serves `release_id`. */
    wanted_id: p.text().nullable(),
    /** When it entered this state. */
    state_at: time().nullable(),
    /** Names of the variables that are set on its host, separated by spaces. Never contains values. */
    variables: p.text().nullable(),
    /** Key ids of the secrets that it can decrypt with, separated by spaces. */
    secret_ids: p.text().nullable(),
    /** The issuer that it puts into tokens and accepts since its start. */
    issuer: p.text().nullable(),
    started_at: time(),
    heartbeat_at: time().index(),
  },
})

/** Variables that releases use and hosts do not set themselves. */
const Variable = defineEntity({
  name: 'Variable',
  tableName: 'waypost_variable',
  properties: {
    /** Its name. The encryption binds the value to it, so that values cannot be swapped. */
    id: p.text().primary(),
    /** Encrypted. */
    value: p.text(),
    /** Another one after each change. */
    revision: p.text(),
    changed_at: time(),
    /** The name of the user. */
    changed_by: p.text(),
  },
})

/** Facts about System, its servers, the change feed, and variables. */
export const systemEntities = [SystemFact, FeedHead, FeedChange, Server, Variable] as const
