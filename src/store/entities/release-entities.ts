import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

const Release = defineEntity({
  name: 'Release',
  tableName: 'waypost_release',
  properties: {
    id: p.text().primary(),
    /** Its text; the id is its SHA-256. */
    manifest: p.text(),
    message: p.text().nullable(),
    created_by: p.text(),
    created_at: time(),
    /** When a server last brought it up: what a starting one falls back to. */
    came_up_at: time().nullable(),
  },
})

const ReleaseArtifact = defineEntity({
  name: 'ReleaseArtifact',
  tableName: 'waypost_artifact',
  properties: { hash: p.text().primary(), content: p.text(), created_at: time() },
})

/** Artifacts that came over HTTP, until a release names them or a day has passed. Nothing is ever served from here. */
const ReleaseUpload = defineEntity({
  name: 'ReleaseUpload',
  tableName: 'waypost_upload',
  properties: {
    hash: p.text().primary(),
    content: p.text(),
    /** Bytes of the content. */
    size: p.integer(),
    created_at: time(),
  },
})

/** Which release is served: one row, locked by whoever activates. */
const ActiveRelease = defineEntity({
  name: 'ActiveRelease',
  tableName: 'waypost_active',
  properties: {
    id: p.integer().autoincrement(false).primary(),
    release_id: p.text().nullable(),
    activated_at: time(),
    activated_by: p.text(),
  },
})

/** Each time that a release was made the active one, counted by whoever holds the lock of the active one. */
const Activation = defineEntity({
  name: 'Activation',
  tableName: 'waypost_activation',
  properties: {
    number: time().autoincrement(false).primary(),
    release_id: p.text().index(),
    /** What a rollback from here goes to. */
    previous_id: p.text().nullable(),
    kind: p.text().$type<'deploy' | 'rollback'>(),
    message: p.text().nullable(),
    activated_at: time(),
    activated_by: p.text(),
    /** Whose token it was, and its client, where it came over HTTP. */
    user_id: p.text().nullable(),
    client_id: p.text().nullable(),
  },
})

/** Releases, the active one, and which were active before. */
export const releaseEntities = [Release, ReleaseArtifact, ReleaseUpload, ActiveRelease, Activation] as const
