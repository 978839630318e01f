import { findUnheldScopes } from '../../auth/index.ts'
import type { ClassCatalog } from '../../definition/index.ts'
import { sha256, version } from '../../kit/index.ts'
import {
  activateRelease,
  assertServable,
  countUploadedBytes,
  findLackingVariables,
  findMissingArtifacts,
  forgetUploads,
  loadActiveRelease,
  loadForRelease,
  neededScopes,
  predictId,
  type releaseErrors,
  shortId,
  storeUploads,
  type Activation,
  type Artifact,
  type Manifest,
} from '../../release/index.ts'
import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import type { KnownActor } from './actor.ts'
import { checkManifest } from './check-manifest.ts'
import { isStorable } from './find-implausible.ts'
import { releaseLimits } from './limits.ts'
import type { ActivateRequest, SurveyAnswer } from './protocol.ts'

export interface DeskSources {
  readonly system: System
  /** The classes that this server's plugins bring. */
  readonly classes: ClassCatalog
  /**
   * The migrations of a release that have not run, as `Connection/name`. Without `mayOpen` nothing is opened that the
   * active release does not have: of other connections all count as pending.
   */
  pendingMigrations(manifest: Manifest, options: { readonly mayOpen: boolean }): Promise<readonly string[]>
}

/** The receiving side of a deployment: whoever sends is believed nothing. */
export interface ReleaseDesk {
  /** What stands here, seen from a release that may come. Changes nothing. @throws WP_BACKEND_MANIFEST, WP_BACKEND_OLDER */
  survey(document: unknown, options: { readonly mayOpen: boolean }): Promise<SurveyAnswer>
  /** @throws WP_BACKEND_ARTIFACT_HASH, WP_BACKEND_ARTIFACT_SIZE, WP_BACKEND_UPLOADS_FULL; nothing is kept then */
  keep(artifacts: readonly Artifact[]): Promise<void>
  /** @throws as `survey`, WP_BACKEND_ARTIFACTS_MISSING, WP_BACKEND_MIGRATIONS_PENDING, WP_RELEASE_SUPERSEDED */
  activate(request: ActivateRequest, actor: KnownActor): Promise<Activation>
}

/** Manifests that were found to be sound, by their hashes: the same one comes for a plan and then to be activated. */
const soundLimit = 16

export function openReleaseDesk({ system, classes, pendingMigrations }: DeskSources): ReleaseDesk {
  const sound = new Set<string>()

  async function check(document: unknown): Promise<Manifest> {
    const hash = sha256(writeText(document))
    if (!sound.has(hash)) {
      const checked = await checkManifest(document, classes)
      if ('problems' in checked) throw refuse(checked.problems)
      if (sound.size >= soundLimit) sound.clear()
      sound.add(hash)
    }
    const manifest = document as Manifest
    assertNotNewer(manifest)
    return manifest
  }

  return {
    async survey(document, options) {
      const manifest = await check(document)
      const active = await loadActiveRelease(system)
      const required = Object.entries(manifest.variables).flatMap(([name, { optional }]) => (optional ? [] : [name]))
      return {
        id: await predictId(system, { manifest, artifacts: [] }),
        active: active ?? null,
        missingArtifacts: await findMissingArtifacts(system, Object.keys(manifest.artifacts)),
        unheldScopes: await findUnheldScopes(system, neededScopes(manifest)),
        lackingVariables: await findLackingVariables(system, required),
        pendingMigrations: await pendingMigrations(manifest, options),
      }
    },
    async keep(artifacts) {
      for (const artifact of artifacts) assertSound(artifact)
      const bytes = await countUploadedBytes(system)
      const more = artifacts.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)
      const limit = releaseLimits.waitingBytes
      if (bytes + more > limit) throw errors.WP_BACKEND_UPLOADS_FULL({ bytes, limit })
      await storeUploads(system, artifacts)
    },
    async activate({ manifest: document, against, message }, { by, ...actor }) {
      const manifest = await check(document)
      const pending = await pendingMigrations(manifest, { mayOpen: true })
      if (pending.length > 0) throw errors.WP_BACKEND_MIGRATIONS_PENDING({ names: pending.join(', ') })
      const hashes = Object.keys(manifest.artifacts)
      const { artifacts, missing } = await loadForRelease(system, hashes)
      const [first] = missing
      if (first !== undefined) {
        throw errors.WP_BACKEND_ARTIFACTS_MISSING({ count: missing.length, first: shortId(first) })
      }
      assertSizes(manifest, artifacts)
      const activation = await activateRelease(system, { manifest, artifacts }, { by, actor, message, against })
      await forgetUploads(system, hashes)
      return activation
    },
  }
}

/** @throws WP_BACKEND_MANIFEST for what is too deep to be written */
function writeText(document: unknown): string {
  try {
    return JSON.stringify(document)
  } catch {
    throw refuse([{ path: '', message: 'is nested too deeply' }])
  }
}

function refuse(problems: readonly { readonly path: string; readonly message: string }[]) {
  const [first, ...others] = problems
  const problem = `${first?.path === '' ? 'it' : first?.path} ${first?.message}`.slice(0, 500)
  return errors.WP_BACKEND_MANIFEST({ problem, more: others.length === 0 ? '' : ` (and ${others.length} more)` })
}

function assertNotNewer(manifest: Manifest): void {
  try {
    assertServable(manifest)
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== newerCode) throw cause
    throw errors.WP_BACKEND_OLDER({ built: manifest.waypost, own: version }, { cause })
  }
}

const newerCode: keyof typeof releaseErrors.table = 'WP_RELEASE_NEWER'

function assertSound({ hash, content }: Artifact): void {
  const found = sha256(content)
  if (found !== hash) throw errors.WP_BACKEND_ARTIFACT_HASH({ hash: shortId(hash), found: shortId(found) })
  if (!isStorable(content)) throw errors.WP_BACKEND_BODY({ reason: `artifact ${shortId(hash)} has a NUL in it` })
  const bytes = Buffer.byteLength(content)
  const limit = releaseLimits.artifactBytes
  if (bytes > limit) throw errors.WP_BACKEND_ARTIFACT_SIZE({ hash: shortId(hash), bytes, limit })
}

function assertSizes(manifest: Manifest, artifacts: readonly Artifact[]): void {
  for (const { hash, content } of artifacts) {
    if (manifest.artifacts[hash] === Buffer.byteLength(content)) continue
    throw refuse([{ path: `/artifacts/${hash}`, message: 'has another size' }])
  }
}
