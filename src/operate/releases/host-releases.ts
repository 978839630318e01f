import { mkdir, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import {
  isAlive,
  listReleases,
  type ListedRelease,
  compareManifests,
  findPathProblem,
  findRelease,
  loadFiles,
  loadActiveId,
  loadManifest,
  releaseErrors as errors,
  type ReleaseChange,
  pruneReleases,
  releasesKept,
  type PrunedReleases,
  listActivations,
  loadReleaseRow,
  type ListedActivation,
  type DefinitionFile,
  type Manifest,
} from '../../release/index.ts'
import { locateDefinition, type LocatedDefinition, type Texts } from '../../definition/index.ts'
import { type Host, loadTerms } from '../../host/index.ts'
import { shortId } from '../../kit/index.ts'
import { changeSystem, type ActingHost } from '../change-system.ts'
import { errors as operateErrors } from '../errors.ts'
import { escapeStep } from '../../schema/index.ts'
import { loadFacts, type System } from '../../store/index.ts'

/** A server's row in System. Rows of crashed servers are kept for a day. */
export interface ListedServer {
  /** Host and port. */
  readonly name: string
  /** Waypost version. */
  readonly version: string
  /** The release being served. */
  readonly release: string | null
  /** The release that it is loading or failed to load. */
  readonly wanted: string | null
  /** `silent` if its heartbeat is overdue. */
  readonly state: string
  readonly error: string | null
  readonly stateAt: number
  readonly heartbeatAt: number
}

export interface ListedReleases {
  readonly releases: readonly ListedRelease[]
  readonly servers: readonly ListedServer[]
  /** The database's time, as for all other times. */
  readonly now: number
  /** Whether System belongs to `waypost dev`. */
  readonly isDevelopment: boolean
}

/** Lists releases, last activated first, and the state of every server. */
export async function listHostReleases({ system }: Host, { limit }: { limit: number }): Promise<ListedReleases> {
  const releases = await listReleases(system, limit)
  const rows = await system.db
    .selectFrom('waypost_server')
    .select(['name', 'version', 'release_id', 'wanted_id', 'state', 'error', 'state_at', 'started_at', 'heartbeat_at'])
    .orderBy('name')
    .orderBy('started_at')
    .execute()
  const { now } = await system.db.selectNoFrom(system.now().as('now')).executeTakeFirstOrThrow()
  const servers = rows.map((row) => ({
    name: row.name,
    version: row.version,
    release: row.release_id,
    wanted: row.wanted_id,
    state: isAlive(row.heartbeat_at, now) ? row.state : 'silent',
    error: row.error,
    stateAt: row.state_at ?? row.started_at,
    heartbeatAt: row.heartbeat_at,
  }))
  const { origin } = await loadFacts(system)
  return { releases, servers, now, isDevelopment: origin === 'development' }
}

export interface ComparedReleases {
  readonly from: string
  readonly to: string
  readonly changes: readonly ReleaseChange[]
}

/**
 * Compares two releases, given by prefixes of their ids; the second defaults to the active release.
 * @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS
 */
export async function compareHostReleases(
  { system }: Host,
  first: string,
  second: string | undefined,
  locate?: LocateDefinition,
): Promise<ComparedReleases> {
  const from = await findRelease(system, first)
  const to = second === undefined ? await loadActiveId(system) : await findRelease(system, second)
  if (to === undefined) throw errors.WP_RELEASE_UNKNOWN({ id: 'active' })
  const [before, after] = [await loadManifest(system, from), await loadManifest(system, to)]
  const { places } = await locateRelease(system, to, locate)
  const changes = compareManifests(before, after).map((one) => locateChange(one, places))
  return { from, to, changes }
}

function locateChange(change: ReleaseChange, sources: ReadonlyMap<string, string>): ReleaseChange {
  if (change.kind !== 'route' || change.change === 'removed') return change
  const [method = '', route = ''] = change.name.split(' ')
  const source = sources.get(`/routes/${escapeStep(route)}/methods/${method}`)
  return source === undefined ? change : { ...change, source }
}

/** Finds the entries of a definition. Servers do it in a thread, because it parses all files. */
export type LocateDefinition = (texts: Texts) => LocatedDefinition | Promise<LocatedDefinition>

const located = new WeakMap<Pick<System, 'db'>, { readonly files: string; readonly found: LocatedDefinition }>()

/**
 * Returns where the entries of a release's definition are; nothing if its last activation keeps no files. Parsing all
 * files of a large definition takes a while, so the last result is kept.
 */
export async function locateRelease(
  system: Pick<System, 'db'>,
  id: string,
  locate: LocateDefinition = locateDefinition,
): Promise<LocatedDefinition> {
  const [activation] = await listActivations(system, id, 1)
  if (activation?.files === undefined) return { places: new Map(), actions: new Map(), inherited: new Map() }
  const known = located.get(system)
  if (known?.files === activation.files) return known.found
  const files = await loadFiles(system, activation.files)
  const found = await locate(new Map(files.map((file) => [file.path, file.content])))
  located.set(system, { files: activation.files, found })
  return found
}

/** The definition files of a release, as its last activation keeps them. */
export interface ReleaseFiles {
  readonly id: string
  /** By path. */
  readonly files: readonly DefinitionFile[]
}

/**
 * Loads the definition files of a release, given by a prefix of its id.
 * @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS, WP_RELEASE_NO_FILES, WP_RELEASE_FILES
 */
export async function loadReleaseFiles({ system }: Host, beginning: string): Promise<ReleaseFiles> {
  const id = await findRelease(system, beginning)
  const [activation] = await listActivations(system, id, 1)
  if (activation?.files === undefined) throw errors.WP_RELEASE_NO_FILES({ id: shortId(id) })
  return { id, files: await loadFiles(system, activation.files) }
}

const maxExcerptLines = 500

/**
 * Returns the text of an entry of a definition: its line and the following lines that are indented more, without their
 * common indentation.
 * @param source `file:line`
 */
export function excerptOf(files: readonly DefinitionFile[], source: string): string | undefined {
  const [, path, line] = /^(.*):(\d+)$/.exec(source) ?? []
  const lines = files
    .find((file) => file.path === path)
    ?.content.split('\n')
    .slice(Number(line) - 1)
  if (lines === undefined || lines[0] === undefined) return undefined
  const indent = indentOf(lines[0])
  const end = lines.findIndex((text, index) => index > 0 && text.trim() !== '' && indentOf(text) <= indent)
  const own = lines.slice(0, Math.min(end === -1 ? lines.length : end, maxExcerptLines))
  return own
    .map((text) => text.slice(Math.min(indent, indentOf(text))))
    .join('\n')
    .trimEnd()
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

/**
 * Writes definition files to a folder, which is created if it does not exist.
 * @throws WP_SERVER_FOLDER_NOT_EMPTY if it is not empty
 */
export async function writeReleaseFiles(folder: string, files: ReleaseFiles['files']): Promise<void> {
  await mkdir(folder, { recursive: true })
  if ((await readdir(folder)).length > 0) throw operateErrors.WP_SERVER_FOLDER_NOT_EMPTY({ folder })
  for (const { path: file, content } of files.filter((one) => findPathProblem(one.path) === undefined)) {
    const full = path.join(folder, file)
    await mkdir(path.dirname(full), { recursive: true })
    await writeFile(full, content, { flag: 'wx' })
  }
}

export interface PruneHostRequest {
  /** Number of newest releases to keep; overrides the setting `keep`. */
  readonly keep?: number | undefined
  readonly dryRun?: boolean
}

/** Deletes old releases as servers do every hour: those that ended longer ago than the setting `keep` allows. */
export async function pruneHostReleases(
  host: ActingHost,
  { keep, dryRun = false }: PruneHostRequest,
): Promise<PrunedReleases> {
  const { settings } = await loadTerms(host)
  const kept =
    keep === undefined ? { keepNewest: releasesKept, keepMs: settings.keep.releases } : { keepNewest: keep, keepMs: 0 }
  if (dryRun) return pruneReleases(host.system, { ...kept, dryRun })
  return changeSystem(host, async (system, audit) => {
    const pruned = await pruneReleases(system, kept)
    const { releases, artifacts } = pruned
    if (releases.length > 0)
      await audit({ action: 'release.prune', before: { releases: releases.map(shortId), artifacts } })
    return pruned
  })
}

/** A release with its manifest. */
export interface ReleaseDetails {
  readonly id: string
  readonly message: string | undefined
  readonly createdBy: string
  readonly createdAt: number
  /** Newest first. */
  readonly activations: readonly ListedActivation[]
  readonly manifest: Manifest
}

const maxActivations = 5

/** Loads a release by a prefix of its id. @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS */
export async function showHostRelease({ system }: Host, beginning: string): Promise<ReleaseDetails> {
  const id = await findRelease(system, beginning)
  const row = await loadReleaseRow(system, id)
  return {
    id,
    message: row.message ?? undefined,
    createdBy: row.created_by,
    createdAt: row.created_at,
    activations: await listActivations(system, id, maxActivations),
    manifest: await loadManifest(system, id),
  }
}
