import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

const ReleasePart = defineEntity({
  name: 'ReleasePart',
  tableName: 'waypost_release_part',
  properties: {
    hash: p.text().primary(),
    kind: p.text().$type<'project' | 'backend'>(),
    manifest: p.text(),
    created_at: time(),
  },
})

const Release = defineEntity({
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

const ReleaseArtifact = defineEntity({
  name: 'ReleaseArtifact',
  tableName: 'waypost_artifact',
  properties: { hash: p.text().primary(), content: p.text(), created_at: time() },
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

/** Releases in parts, and the active one. */
export const releaseEntities = [ReleasePart, Release, ReleaseArtifact, ActiveRelease] as const
