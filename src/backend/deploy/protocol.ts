import { Type, type Static } from 'typebox'
import { version as ownVersion } from '../../kit/index.ts'
import type { DeploymentSurvey, RollbackSurvey } from '../../operate/index.ts'
import { errors } from '../errors.ts'
import type { Activated, Activation, FileHashes, LiveServer } from '../../release/index.ts'

// Requests and responses of deployments over HTTP, shared by client and server. A change that the other side of an
// older version would not understand requires a new protocol number.

export const protocol = 2

const strict = { additionalProperties: false }
const hash = Type.String({ pattern: '^[0-9a-f]{64}$' })
// Checked by `checkManifest`, which gives better errors.
const manifest = Type.Unknown()
const version = Type.Integer({ minimum: 0, maximum: 1_000_000 })

/** The definition files: path → SHA-256. Checked by `readFiles`, which gives better errors. */
const files = Type.Optional(Type.Unknown())

export const SurveyBody = Type.Object({ protocol: version, manifest, files }, strict)

export const ArtifactsBody = Type.Object(
  {
    protocol: version,
    artifacts: Type.Array(Type.Object({ hash, content: Type.String() }, strict), { minItems: 1, maxItems: 1000 }),
  },
  strict,
)

export const ArtifactParams = Type.Object({ hash }, strict)

export const ActivateBody = Type.Object(
  {
    protocol: version,
    manifest,
    files,
    /** The Git commit of the files. */
    commit: Type.Optional(Type.String({ pattern: '^[0-9a-f]{40}([0-9a-f]{24})?(-dirty)?$' })),
    /** `backend` if the files were edited on a server and are not in Git. */
    kind: Type.Optional(Type.Literal('backend')),
    /** Prefix of the id of the release that must be active; `none` for no release. */
    against: Type.Optional(Type.String({ pattern: '^([0-9a-f]{4,64}|none)$' })),
    /** Activate breaking changes although the setting `breaking_changes: forbid` applies. */
    allow_breaking: Type.Optional(Type.Boolean()),
    /** Activate although running servers lack variables of the release. */
    allow_missing: Type.Optional(Type.Boolean()),
    /** Activate although the release has warnings about access that the active one does not have. */
    accept_access: Type.Optional(Type.Boolean()),
    /** Activate although changes that were made in the backend since the last deployment from a folder are undone. */
    overwrite_backend: Type.Optional(Type.Boolean()),
    // Printed on terminals, so it must not contain invisible characters or change the text around it.
    message: Type.Optional(Type.String({ maxLength: 500, pattern: '^[^\\p{C}\\p{Zl}\\p{Zp}]*$' })),
  },
  strict,
)

export const RollbackSurveyBody = Type.Object(
  {
    protocol: version,
    /** Prefix of an id; by default the previously active release. */
    release: Type.Optional(Type.String({ pattern: '^[0-9a-f]{1,64}$' })),
  },
  strict,
)

export const RollbackBody = Type.Object(
  {
    protocol: version,
    release: hash,
    against: ActivateBody.properties.against,
    message: ActivateBody.properties.message,
    allow_breaking: ActivateBody.properties.allow_breaking,
    allow_missing: ActivateBody.properties.allow_missing,
    /** Whether the definition files of the undone release become the draft, which must have no changes. */
    keep_draft: Type.Optional(Type.Boolean()),
  },
  strict,
)

export type SurveyRequest = Static<typeof SurveyBody>
export type ArtifactsRequest = Static<typeof ArtifactsBody>
export type MigrateRequest = SurveyRequest
export type ActivateRequest = Static<typeof ActivateBody>
export type RollbackSurveyRequest = Static<typeof RollbackSurveyBody>
export type RollbackRequest = Static<typeof RollbackBody>

/** The server's version and protocol. */
export interface AccessResponse {
  readonly waypost: string
  readonly protocol: number
}

export interface ServersResponse {
  /** The id of the active release. */
  readonly active: string | null
  readonly servers: readonly LiveServer[]
}

/** The definition files of the active release, or of the draft, and of the version that was last in Git: path → SHA-256. */
export interface FilesResponse {
  readonly active: { readonly id: string | null; readonly files: FileHashes } | null
  /** Null if it was never deployed from a folder. */
  readonly inGit: { readonly commit: string | null; readonly files: FileHashes } | null
  /** The content of each file, by its hash. */
  readonly contents: Readonly<Record<string, string>>
}

/** The definition files of the last activations, the newest first: path → SHA-256. */
export interface VersionsResponse {
  readonly versions: readonly FileHashes[]
}

/** The active release, for `waypost deploy --from`. */
export interface ReleaseResponse {
  /** Null before the first deployment. */
  readonly active: { readonly id: string; readonly manifest: string } | null
}

/** What the server knows about a new release. */
export interface SurveyResponse extends Omit<DeploymentSurvey, 'active'> {
  readonly active: NonNullable<DeploymentSurvey['active']> | null
}

export interface ArtifactsResponse {
  readonly stored: number
}

export interface MigrateResponse {
  /** In the order in which they ran, with their durations in milliseconds. */
  readonly applied: readonly RanMigration[]
}

export interface RanMigration {
  readonly connection: string
  readonly name: string
  readonly ms: number
}

export type ActivateResponse = Activation
export type RollbackResponse = Activated

/** What a rollback to a release would involve. */
export interface RollbackSurveyResponse extends Omit<RollbackSurvey, 'active'> {
  readonly active: { readonly id: string } | null
}

/** Paths of the endpoints, relative to the server's URL. */
export const paths = {
  /** GET; requires permission to deploy. */
  access: '/backend/deploy/access',
  /** GET */
  servers: '/backend/deploy/server',
  /** GET; for `waypost pull`. */
  files: '/backend/deploy/file',
  /** GET; for `waypost pull` into a folder that has one of these versions. */
  versions: '/backend/deploy/file/version',
  /** GET; for `waypost pull --draft`. */
  draft: '/backend/deploy/draft',
  /** POST; changes nothing. */
  survey: '/backend/deploy/survey',
  /** GET; the active release with all that a copy needs requires permission to deploy. */
  active: '/backend/deploy/release',
  /** POST; stores artifacts and definition files for a future release. GET with the hash of a stored artifact. */
  artifacts: '/backend/deploy/artifact',
  /** POST; runs the migrations of a release whose artifacts have been uploaded. */
  migrations: '/backend/deploy/migration',
  /** POST; stores a release and activates it. */
  releases: '/backend/deploy',
  /** POST; changes nothing. */
  rollbackSurvey: '/backend/deploy/rollback/survey',
  /** POST; activates a stored release. */
  rollback: '/backend/deploy/rollback',
} as const

/** The first requests of clients with protocol 1. They get an error that says which version to use. */
export const oldPaths = ['/backend/release/access', '/backend/release/server'] as const

/** @throws WP_BACKEND_PROTOCOL */
export function assertProtocol({ protocol: given }: { readonly protocol: number }): void {
  if (given !== protocol) throw errors.WP_BACKEND_PROTOCOL({ version: ownVersion, own: protocol, given })
}
