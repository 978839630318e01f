import { Type, type Static } from 'typebox'
import { version as ownVersion } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import type {
  Activation,
  MissingVariable,
  LiveServer,
  Manifest,
  RollbackSurvey,
  StoredRelease,
} from '../../release/index.ts'

// What a deployment over HTTP says, and what a server answers. Both sides are of this file; a change that the other side
// of an older Waypost would not understand is another protocol.

export const protocol = 1

const strict = { additionalProperties: false }
const hash = Type.String({ pattern: '^[0-9a-f]{64}$' })
// Looked into by `checkManifest`, which says more than that it does not fit.
const manifest = Type.Unknown()
const version = Type.Integer({ minimum: 0, maximum: 1_000_000 })

export const SurveyBody = Type.Object({ protocol: version, manifest }, strict)

export const ArtifactsBody = Type.Object(
  {
    protocol: version,
    artifacts: Type.Array(Type.Object({ hash, content: Type.String() }, strict), { minItems: 1, maxItems: 1000 }),
  },
  strict,
)

export const ActivateBody = Type.Object(
  {
    protocol: version,
    manifest,
    /** The beginning of the id of the release that is active; `none` where nothing is. */
    against: Type.Optional(Type.String({ pattern: '^([0-9a-f]{4,64}|none)$' })),
    // It is printed on terminals: nothing in it may be invisible or move what stands around it.
    message: Type.Optional(Type.String({ maxLength: 500, pattern: '^[^\\p{C}\\p{Zl}\\p{Zp}]*$' })),
  },
  strict,
)

export const RollbackSurveyBody = Type.Object(
  {
    protocol: version,
    /** The beginning of an id; without it the release that was active before is meant. */
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
  },
  strict,
)

export type SurveyRequest = Static<typeof SurveyBody>
export type ArtifactsRequest = Static<typeof ArtifactsBody>
export type MigrateRequest = SurveyRequest
export type ActivateRequest = Static<typeof ActivateBody>
export type RollbackSurveyRequest = Static<typeof RollbackSurveyBody>
export type RollbackRequest = Static<typeof RollbackBody>

/** Who answers, and what it understands. */
export interface AccessAnswer {
  readonly waypost: string
  readonly protocol: number
}

export interface ServersAnswer {
  readonly servers: readonly LiveServer[]
}

/** What the server's System knows of a release that may come. */
export interface SurveyAnswer {
  readonly id: string
  readonly active: StoredRelease | null
  readonly missingArtifacts: readonly string[]
  readonly unheldScopes: readonly string[]
  readonly lackingVariables: readonly MissingVariable[]
  readonly pendingMigrations: readonly string[]
}

export interface ArtifactsAnswer {
  readonly stored: number
}

export interface MigrateAnswer {
  /** In the order in which they ran; each took so many milliseconds. */
  readonly applied: readonly RanMigration[]
}

export interface RanMigration {
  readonly connection: string
  readonly name: string
  readonly ms: number
}

export type ActivateAnswer = Activation

/** What going back to a release would mean. */
export interface RollbackSurveyAnswer extends Omit<RollbackSurvey, 'active'> {
  readonly active: { readonly id: string; readonly manifest?: Manifest | undefined } | null
}

/** Where each is asked, below the address of the server. */
export const paths = {
  /** GET: for who may deploy. */
  access: '/backend/release/access',
  /** GET */
  servers: '/backend/release/server',
  /** POST: changes nothing. */
  survey: '/backend/release/survey',
  /** POST: keeps artifacts for a release to come. */
  artifacts: '/backend/release/artifact',
  /** POST: runs the migrations that a release needs; its artifacts have been uploaded. */
  migrations: '/backend/release/migration',
  /** POST: stores a release and activates it. */
  releases: '/backend/release',
  /** POST: changes nothing. */
  rollbackSurvey: '/backend/release/rollback/survey',
  /** POST: makes a release that is stored the active one. */
  rollback: '/backend/release/rollback',
} as const

/** @throws WP_BACKEND_PROTOCOL */
export function assertProtocol({ protocol: given }: { readonly protocol: number }): void {
  if (given !== protocol) throw errors.WP_BACKEND_PROTOCOL({ version: ownVersion, own: protocol, given })
}
