import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

/** What System knows of itself: issuer, check value of the secret, whether `dev` made it. */
const SystemFact = defineEntity({
  name: 'SystemFact',
  tableName: 'waypost_system',
  properties: { name: p.text().primary(), value: p.text() },
})

/** The one row whose lock puts changes into commit order. */
const FeedHead = defineEntity({
  name: 'FeedHead',
  tableName: 'waypost_feed_head',
  properties: { id: p.integer().autoincrement(false).primary(), position: time() },
})

/** The change feed: what every running server must notice. */
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
    /** Why the release that it wants to serve did not come up. */
    error: p.text().nullable(),
    /** The release that it is bringing up, or that did not come up; `release_id` is what it serves meanwhile. */
    wanted_id: p.text().nullable(),
    /** Since when it is in this state. */
    state_at: time().nullable(),
    /** Names of the variables that are set where it runs, separated by spaces; never a value. */
    variables: p.text().nullable(),
    /** Which secrets it can open values with: their key ids, separated by spaces. */
    secret_ids: p.text().nullable(),
    /** What it puts into tokens and accepts, since it was started. */
    issuer: p.text().nullable(),
    started_at: time(),
    heartbeat_at: time().index(),
  },
})

/** What System knows of itself, its servers and what changed. */
export const systemEntities = [SystemFact, FeedHead, FeedChange, Server] as const
