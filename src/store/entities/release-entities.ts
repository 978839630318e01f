import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

const Release = defineEntity({
  name: 'Release',
  tableName: 'waypost_release',
  properties: {
    id: p.text().primary(),
    /** The manifest's text. The id is its SHA-256. */
    manifest: p.text(),
    message: p.text().nullable(),
    created_by: p.text(),
    created_at: time(),
    /** When a server last started it successfully. A starting server falls back to such a release. */
    came_up_at: time().nullable(),
  },
})

const ReleaseArtifact = defineEntity({
  name: 'ReleaseArtifact',
  tableName: 'waypost_artifact',
  properties: { hash: p.text().primary(), content: p.text(), created_at: time() },
})

/**
 * Artifacts uploaded over HTTP, until a release contains them or a day has passed. Nothing is served from this table.
 */
const ReleaseUpload = defineEntity({
  name: 'ReleaseUpload',
  tableName: 'waypost_upload',
  properties: {
    hash: p.text().primary(),
    content: p.text(),
    /** Size of the content in bytes. */
    size: p.integer(),
    created_at: time(),
  },
})

/** The release that is served: one row, which an activation locks. */
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

/** Each activation of a release, numbered under the lock of the active release. */
const Activation = defineEntity({
  name: 'Activation',
  tableName: 'waypost_activation',
  properties: {
    number: time().autoincrement(false).primary(),
    release_id: p.text().index(),
    /** The release that a rollback returns to. */
    previous_id: p.text().nullable(),
    kind: p.text().$type<'deploy' | 'backend' | 'rollback'>(),
    message: p.text().nullable(),
    activated_at: time(),
    activated_by: p.text(),
    /** The user and client of the token, for an activation over HTTP. */
    user_id: p.text().nullable(),
    client_id: p.text().nullable(),
    /** The hash of the list of its definition files. */
    files: p.text().nullable(),
    /** The Git commit of the files, with `-dirty` if they had been changed since. */
    git_commit: p.text().nullable(),
    /** The number of the activation whose files were last in Git: of a deployment itself, of a rollback its target's. */
    from_git: time().nullable(),
  },
})

/** Definition files of activations, and the lists of each activation's files as JSON: path → hash. */
const DefinitionFile = defineEntity({
  name: 'DefinitionFile',
  tableName: 'waypost_file',
  properties: { hash: p.text().primary(), content: p.text(), created_at: time() },
})

/** The definition that the pages of a server edit: one row while it differs from the active release's. */
const Draft = defineEntity({
  name: 'Draft',
  tableName: 'waypost_draft',
  properties: {
    id: p.integer().autoincrement(false).primary(),
    /** The number of the activation that it changes; 0 for none. */
    base: time(),
    /** The hash of the list of that activation's files. */
    base_files: p.text().nullable(),
    /** The hash of the list of its own files. */
    files: p.text(),
    changed_at: time(),
  },
})

/** Who made the changes of the draft. */
const DraftChange = defineEntity({
  name: 'DraftChange',
  tableName: 'waypost_draft_change',
  properties: {
    /** A JSON pointer, or the path of a file. */
    name: p.text().primary(),
    user_id: p.text().nullable(),
    user_name: p.text(),
    changed_at: time(),
  },
})

/** Variables that publishing the draft sets. */
const DraftVariable = defineEntity({
  name: 'DraftVariable',
  tableName: 'waypost_draft_variable',
  properties: {
    /** Its name. */
    id: p.text().primary(),
    /** Encrypted. */
    value: p.text(),
    changed_at: time(),
    /** The name of the user. */
    changed_by: p.text(),
  },
})

/** Publications of the draft, running and finished. */
const Publication = defineEntity({
  name: 'Publication',
  tableName: 'waypost_publish',
  properties: {
    id: p.text().primary(),
    state: p.text().$type<'migrating' | 'activating' | 'activated' | 'failed'>(),
    release_id: p.text().nullable(),
    message: p.text().nullable(),
    by_id: p.text().nullable(),
    by_name: p.text(),
    /** What it has done, and why it failed, as JSON. */
    detail: p.text(),
    created_at: time().index(),
    /** Its server updates this while it runs. */
    updated_at: time(),
  },
})

/** Releases, the active one, the history of activations, and the draft of the next one. */
export const releaseEntities = [
  Release,
  ReleaseArtifact,
  ReleaseUpload,
  ActiveRelease,
  Activation,
  DefinitionFile,
  Draft,
  DraftChange,
  DraftVariable,
  Publication,
] as const
