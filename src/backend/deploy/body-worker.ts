// A thread that reads and checks the bodies of deployments, so that large ones do not block requests.
import { isUtf8 } from 'node:buffer'
import { parentPort, workerData } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'
import type { ClassCatalog, OverwrittenPlace, Versions } from '../../definition/index.ts'
import {
  clearBareEnvironment,
  findForbiddenKey,
  findJsonExcess,
  hasInfiniteNumber,
  isStorable,
  isWaypostError,
  sha256,
  shortId,
  type WaypostError,
} from '../../kit/index.ts'
import {
  findFilesProblem,
  findPathProblem,
  outlineRelease,
  parseManifest,
  type Artifact,
  type FileHashes,
  type Manifest,
  type ReleaseOutline,
} from '../../release/index.ts'
import { errors } from '../errors.ts'
import { checkManifest, type ManifestProblem } from './check-manifest.ts'
import { releaseLimits } from './limits.ts'

clearBareEnvironment()

export interface ReadTask {
  readonly bytes: Uint8Array
  /** With gzip. */
  readonly isCompressed: boolean
  /** Maximum number of bytes after decompression. */
  readonly limit: number
  readonly content: 'manifest' | 'artifacts' | 'neither'
  /** The manifest of the active release, with which a manifest is compared; undefined if there is none. */
  readonly active?: string | undefined
}

/** Compares the definition files of a release with those that it would replace. */
export interface CompareTask {
  readonly versions: Versions
}

export interface CompareResult {
  readonly overwritten?: readonly OverwrittenPlace[]
  readonly failure?: SerializedError
}

export type Task = ReadTask | CompareTask | 'next'

/** The result of reading a body. Artifacts are then fetched with `next`, in batches. */
export interface ReadResult {
  /** The body, or a part of it that suffices to check its form. */
  readonly body?: unknown
  /** The error found; without `body`, the body could not be read. */
  readonly failure?: SerializedError
  readonly manifest?: SentManifest
  /** The definition files of the release. */
  readonly files?: FileHashes
  /** Total size of all artifacts. */
  readonly bytes?: number
}

export interface NextResult {
  /** Empty after the last batch. */
  readonly artifacts: readonly Artifact[]
}

/** The parts of a `WaypostError` that are sent between threads. */
export type SerializedError = Pick<WaypostError, 'code' | 'kind' | 'status' | 'message' | 'hint'>

/** The parts of a valid manifest that are needed. The complete manifest is in `text`. */
export interface SentManifest extends ReleaseOutline {
  readonly text: string
  readonly artifacts: Manifest['artifacts']
  readonly plugins: Manifest['plugins']
}

/** Ids of manifests that were found to be valid: the same manifest is sent for a plan and again to be activated. */
const validIds = new Set<string>()
const maxValidIds = 16
// The manifest is one level below the body. `findImplausible` has the exact limits.
const excess = { levels: 122, values: 2_000_000 }

const { classes } = workerData as { readonly classes: ClassCatalog }
let checkedArtifacts: Artifact[] = []
const batchLength = 1024 * 1024

parentPort!.on('message', async (task: Task) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort!.postMessage(await perform(task))
})

async function perform(task: Task): Promise<ReadResult | CompareResult | NextResult> {
  if (task === 'next') return takeBatch()
  return 'versions' in task ? compare(task) : read(task)
}

function takeBatch(): NextResult {
  const artifacts: Artifact[] = []
  for (let length = 0; checkedArtifacts.length > 0 && length < batchLength; length += artifacts.at(-1)!.content.length)
    artifacts.push(checkedArtifacts.shift()!)
  return { artifacts }
}

async function read({ bytes, isCompressed, limit, content, active }: ReadTask): Promise<ReadResult> {
  checkedArtifacts = []
  let body: unknown
  try {
    const parsed = parse(isCompressed ? decompress(bytes, limit) : bytes)
    body = truncateLargeValues(parsed)
    const { manifest, artifacts, files } = (parsed ?? {}) as Readonly<Record<string, unknown>>
    if (content === 'artifacts') return { body, bytes: checkArtifacts(artifacts) }
    if (content === 'neither' || manifest === undefined) return { body }
    const kept = files === undefined ? {} : { files: readFiles(files) }
    return { body, manifest: await readManifest(manifest, active), ...kept }
  } catch (error) {
    return { body, failure: serialize(error) }
  }
}

async function compare({ versions }: CompareTask): Promise<CompareResult> {
  const { listOverwritten } = await import('../../definition/index.ts') // few deployments need it
  try {
    return { overwritten: listOverwritten(versions) }
  } catch (error) {
    return { failure: serialize(error) }
  }
}

function serialize(error: unknown): SerializedError {
  if (!isWaypostError(error)) throw error
  const { code, kind, status, message, hint } = error
  return { code, kind, status, message, hint }
}

/** @throws WP_BACKEND_BODY, WP_BACKEND_BODY_SIZE */
function decompress(bytes: Uint8Array, limit: number): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: limit })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw errors.WP_BACKEND_BODY_SIZE({ limit })
    throw errors.WP_BACKEND_BODY({ reason: 'it is not valid gzip data' })
  }
}

/** @throws WP_BACKEND_BODY */
function parse(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw errors.WP_BACKEND_BODY({ reason: 'it is not UTF-8' })
  const found = findJsonExcess(bytes, excess)
  if (found === 'levels') throw errors.WP_BACKEND_BODY({ reason: 'it is nested too deeply' })
  if (found === 'values') throw errors.WP_BACKEND_BODY({ reason: 'it has too many values' })
  const text = new TextDecoder().decode(bytes)
  const body = parseJson(text)
  if (body === undefined || findForbiddenKey(text, body) !== undefined)
    throw errors.WP_BACKEND_BODY({ reason: 'it is not valid JSON, or has a forbidden key' })
  if (hasInfiniteNumber(text))
    throw errors.WP_BACKEND_BODY({ reason: 'a number in it is larger than 1.8e308 or less than -1.8e308' })
  return body
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Shortens values that are too large for any valid form, so that they remain too large. */
function truncateLargeValues(value: unknown, level = 0): unknown {
  if (typeof value === 'string') return value.slice(0, 600)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value))
    return level > 2 ? [] : value.slice(0, 1001).map((one) => truncateLargeValues(one, level + 1))
  const entries = level > 2 ? [] : Object.entries(value).slice(0, 8)
  return Object.fromEntries(
    entries.map(([key, one]) => [
      key.slice(0, 100),
      (level === 0 && (key === 'manifest' || key === 'files')) || (key === 'content' && typeof one === 'string')
        ? ''
        : truncateLargeValues(one, level + 1),
    ]),
  )
}

/** Applies the same rules as `deploy`. @throws WP_BACKEND_FILES */
function readFiles(document: unknown): FileHashes {
  const entries = Object.entries(document ?? {}) as [string, unknown][]
  const refuse = (path: string, problem: string) => errors.WP_BACKEND_FILES({ path: path.slice(0, 200), problem })
  for (const [path, hash] of entries) {
    const problem = findPathProblem(path)
    if (problem !== undefined) throw refuse(path, problem)
    if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) throw refuse(path, 'it has no SHA-256')
  }
  const found = findFilesProblem(entries.map(([path]) => ({ path, bytes: 0 })))
  if (found !== undefined) throw refuse(found.path, found.problem)
  if (!entries.some(([path]) => path === 'waypost.yml')) throw refuse('waypost.yml', 'it is missing')
  return Object.fromEntries(entries) as FileHashes
}

/** @throws WP_BACKEND_MANIFEST */
async function readManifest(document: unknown, active: string | undefined): Promise<SentManifest> {
  const text = JSON.stringify(document)
  const id = sha256(text)
  if (!validIds.has(id)) {
    const checked = await checkManifest(document, classes)
    if ('problems' in checked) throw makeManifestError(checked.problems)
    if (validIds.size >= maxValidIds) validIds.clear()
    validIds.add(id)
  }
  const manifest = document as Manifest
  const before = active === undefined ? undefined : parseManifest(active)
  const { artifacts, plugins } = manifest
  return { ...outlineRelease(id, manifest, before), text, artifacts, plugins }
}

function makeManifestError(problems: readonly ManifestProblem[]): Error {
  const [first, ...others] = problems
  const problem = `${first?.path === '' ? 'it' : first?.path} ${first?.message}`.slice(0, 500)
  return errors.WP_BACKEND_MANIFEST({ problem, more: others.length === 0 ? '' : ` (and ${others.length} more)` })
}

/**
 * Keeps artifacts for `next` after checking all of them; keeps none if their form is invalid.
 * @throws WP_BACKEND_ARTIFACT_HASH, WP_BACKEND_ARTIFACT_SIZE, WP_BACKEND_BODY
 */
function checkArtifacts(list: unknown): number {
  const isWellFormed = Array.isArray(list) && list.every((one: unknown) => isArtifact(one))
  const artifacts: readonly Artifact[] = isWellFormed ? list : []
  const sizes = artifacts.map(assertArtifact)
  checkedArtifacts = [...artifacts]
  return sizes.reduce((sum, size) => sum + size, 0)
}

function isArtifact(value: unknown): value is Artifact {
  const { hash, content } = (value ?? {}) as { readonly hash?: unknown; readonly content?: unknown }
  return typeof hash === 'string' && typeof content === 'string'
}

function assertArtifact({ hash, content }: Artifact): number {
  const found = sha256(content)
  if (found !== hash) throw errors.WP_BACKEND_ARTIFACT_HASH({ hash: shortId(hash), found: shortId(found) })
  if (!isStorable(content))
    throw errors.WP_BACKEND_BODY({ reason: `artifact ${shortId(hash)} contains a NUL character` })
  const bytes = Buffer.byteLength(content)
  const limit = releaseLimits.artifactBytes
  if (bytes > limit) throw errors.WP_BACKEND_ARTIFACT_SIZE({ hash: shortId(hash), bytes, limit })
  return bytes
}
