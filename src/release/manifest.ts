import type { JsonSchema } from '../contract/index.ts'
import { type DeclaredVariable, sha256 } from '../kit/index.ts'

/** What a release says, as plain JSON; the same sources give the same text. */
export interface Manifest {
  readonly format: 1
  /** The Waypost version that built it; an older server refuses it. */
  readonly waypost: string
  readonly name: string
  readonly routes: readonly ManifestRoute[]
  readonly schemas: Readonly<Record<string, JsonSchema>>
  readonly connections: Readonly<Record<string, ManifestClass>>
  readonly events: Readonly<Record<string, ManifestEvent>>
  readonly scopes: Readonly<Record<string, { readonly description?: string }>>
  readonly cronjobs: Readonly<Record<string, ManifestCronjob>>
  readonly rates: Readonly<
    Record<string, { readonly limit: number; readonly windowMs: number; readonly by: 'principal' | 'address' }>
  >
  readonly config: Readonly<Record<string, unknown>>
  readonly plugins: readonly { readonly name: string; readonly config: Readonly<Record<string, unknown>> }[]
  readonly variables: Readonly<Record<string, ManifestVariable>>
  /** Every migration of the project, by connection and then in order of name. */
  readonly migrations: readonly ManifestMigration[]
  /** Every artifact that the release needs, chunks that others import included: SHA-256 → size in bytes. */
  readonly artifacts: Readonly<Record<string, number>>
}

export interface ManifestRoute {
  readonly path: string
  readonly deprecated?: string | true
  readonly methods: readonly ManifestMethod[]
}

export interface ManifestMethod {
  readonly method: string
  readonly public: boolean
  readonly description?: string
  readonly scopes: readonly string[]
  readonly params?: JsonSchema
  readonly query?: JsonSchema
  readonly request?: JsonSchema
  readonly responses: Readonly<Record<string, JsonSchema>>
  readonly action: ManifestAction
  readonly dispatch?: string
  readonly timeoutMs?: number
  readonly rate?: string
  readonly html?: 'trusted'
  /** `file:line` of the method in the project. */
  readonly source: string
}

/** The code of an action: an artifact whose default export is its class, or a class of a plugin. */
export type ManifestAction = { readonly artifact: string; readonly file: string } | ManifestClass

export interface ManifestClass {
  readonly class: string
  readonly config: Readonly<Record<string, unknown>>
}

export interface ManifestEvent {
  readonly description?: string
  readonly schema?: JsonSchema
  readonly scopes?: readonly string[]
}

export interface ManifestCronjob {
  readonly schedule: string
  readonly timezone?: string
  /** A duration. Like what stands before it, it may name variables. */
  readonly timeout?: string
  readonly action: ManifestAction
}

export interface ManifestVariable {
  /** It has a default wherever it is used. */
  readonly optional: boolean
  /** Actions read it as `context.env.NAME`. Each server reads its value when it brings up the release. */
  readonly declared?: DeclaredVariable
}

export interface ManifestMigration {
  readonly connection: string
  /** File name without its ending, for example `20261120-create-app-todo`. */
  readonly name: string
  /** SHA-256 of the source file's text; an applied migration with another one was edited. */
  readonly checksum: string
  readonly artifact: string
}

/** One file of a release: bundled code, named by the SHA-256 of its content. */
export interface Artifact {
  readonly hash: string
  readonly content: string
}

/** A release that was built and not yet stored. */
export interface BuiltRelease {
  readonly manifest: Manifest
  readonly artifacts: readonly Artifact[]
}

/** Returns the text of a manifest that is stored and hashed; keys keep their author's order, which `build` makes the same everywhere. */
export function writeManifest(manifest: Manifest): string {
  return JSON.stringify(manifest)
}

/** Returns the id of a release: the SHA-256 of its manifest's text. */
export function releaseId(manifest: Manifest): string {
  return sha256(writeManifest(manifest))
}

/** The scopes without which some private method of a release cannot be called, or some event not be subscribed to. */
export function neededScopes({ routes, events }: Manifest): readonly string[] {
  const methods = routes.flatMap((route) => route.methods).filter((method) => !method.public)
  const named = [...methods, ...Object.values(events)].flatMap(({ scopes }) => scopes ?? [])
  return [...new Set(named)].toSorted()
}
