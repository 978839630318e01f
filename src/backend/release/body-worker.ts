// A thread that reads what is sent for a deployment: whatever of it takes long keeps no request waiting.
import { isUtf8 } from 'node:buffer'
import { parentPort, workerData } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'
import type { ClassCatalog } from '../../definition/index.ts'
import { findJsonExcess, isStorable, isWaypostError, sha256, shortId, type WaypostError } from '../../kit/index.ts'
import { neededScopes, type Artifact, type Manifest, type ManifestMigration } from '../../release/index.ts'
import { errors } from '../errors.ts'
import { checkManifest, type ManifestProblem } from './check-manifest.ts'
import { releaseLimits } from './limits.ts'

export interface ReadTask {
  readonly bytes: Uint8Array
  /** By gzip. */
  readonly isPacked: boolean
  /** Bytes at most, unpacked. */
  readonly limit: number
  readonly holds: 'manifest' | 'artifacts' | 'neither'
  /** The text of the active release's manifest. */
  readonly active?: string | undefined
}

/** What was read; `next` then asks for artifacts, some at a time. */
export interface ReadResult {
  /** As much of the body as tells whether it has the right form. */
  readonly body?: unknown
  /** What is wrong with it; where there is no body, it could not be read. */
  readonly refused?: CarriedError
  readonly manifest?: SentManifest
  /** Bytes of all artifacts. */
  readonly bytes?: number
}

export interface NextResult {
  /** None after the last. */
  readonly artifacts: readonly Artifact[]
}

/** What a `WaypostError` is made of. */
export type CarriedError = Pick<WaypostError, 'code' | 'kind' | 'status' | 'message' | 'hint'>

/** What is needed of a manifest that was found to be sound; all of it is in its text only. */
export interface SentManifest {
  /** Of the release. */
  readonly id: string
  readonly text: string
  readonly waypost: string
  readonly artifacts: Manifest['artifacts']
  /** The scopes without which something of it cannot be called. */
  readonly scopes: readonly string[]
  /** The variables that have to be set. */
  readonly variables: readonly string[]
  readonly migrations: readonly ManifestMigration[]
  /** Those with migrations. */
  readonly connections: Manifest['connections']
  /** The names of those that are the same in the active release, and System. */
  readonly activeConnections: readonly string[]
}

/** Manifests that were found to be sound, by their ids: the same one comes for a plan and then to be activated. */
const sound = new Set<string>()
const soundLimit = 16
// The manifest is one level below the body. Exact limits are those of `findImplausible`.
const excess = { levels: 122, values: 2_000_000 }

const { classes } = workerData as { readonly classes: ClassCatalog }
let kept: Artifact[] = []
const batchLength = 1024 * 1024

parentPort!.on('message', async (task: ReadTask | 'next') => {
  const result: ReadResult | NextResult = task === 'next' ? takeNext() : await read(task)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort!.postMessage(result)
})

function takeNext(): NextResult {
  const artifacts: Artifact[] = []
  for (let length = 0; kept.length > 0 && length < batchLength; length += artifacts.at(-1)!.content.length)
    artifacts.push(kept.shift()!)
  return { artifacts }
}

async function read({ bytes, isPacked, limit, holds, active }: ReadTask): Promise<ReadResult> {
  kept = []
  let body: unknown
  try {
    const parsed = parse(isPacked ? unpack(bytes, limit) : bytes)
    body = outline(parsed)
    const { manifest, artifacts } = (parsed ?? {}) as { readonly manifest?: unknown; readonly artifacts?: unknown }
    if (holds === 'artifacts') return { body, bytes: takeArtifacts(artifacts) }
    if (holds === 'neither' || manifest === undefined) return { body }
    return { body, manifest: await readManifest(manifest, active) }
  } catch (error) {
    if (!isWaypostError(error)) throw error
    const { code, kind, status, message, hint } = error
    return { body, refused: { code, kind, status, message, hint } }
  }
}

/** @throws WP_BACKEND_BODY, WP_BACKEND_BODY_SIZE */
function unpack(bytes: Uint8Array, limit: number): Uint8Array {
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
  try {
    const body: unknown = JSON.parse(text)
    if (!mayHaveRefused.test(text) || !hasRefusedKey(body)) return body
  } catch {
    // said below
  }
  throw errors.WP_BACKEND_BODY({ reason: 'it is not valid JSON, or has a forbidden key' })
}

const mayHaveRefused = /"__proto__"|"constructor"|\\u/

/** Whether it has one of the keys by which objects of this process could be changed. */
function hasRefusedKey(body: unknown): boolean {
  const waiting = [body]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '__proto__')) return true
    const { constructor: made } = value as { readonly constructor: unknown }
    if (Object.hasOwn(value, 'constructor') && typeof made === 'object' && Object.hasOwn(made ?? {}, 'prototype'))
      return true
    for (const one of Object.values(value)) waiting.push(one)
  }
  return false
}

/** Cuts what is longer than anything that has the right form to what still is too long. */
function outline(value: unknown, level = 0): unknown {
  if (typeof value === 'string') return value.slice(0, 600)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return level > 2 ? [] : value.slice(0, 1001).map((one) => outline(one, level + 1))
  const entries = level > 2 ? [] : Object.entries(value).slice(0, 8)
  return Object.fromEntries(
    entries.map(([key, one]) => [
      key.slice(0, 100),
      (level === 0 && key === 'manifest') || (key === 'content' && typeof one === 'string')
        ? ''
        : outline(one, level + 1),
    ]),
  )
}

/** @throws WP_BACKEND_MANIFEST */
async function readManifest(document: unknown, active: string | undefined): Promise<SentManifest> {
  const text = JSON.stringify(document)
  const id = sha256(text)
  if (!sound.has(id)) {
    const checked = await checkManifest(document, classes)
    if ('problems' in checked) throw refuseManifest(checked.problems)
    if (sound.size >= soundLimit) sound.clear()
    sound.add(id)
  }
  const manifest = document as Manifest
  const { connections, migrations, variables } = manifest
  const before = active === undefined ? {} : (JSON.parse(active) as Manifest).connections
  const isActive = (name: string) => JSON.stringify(connections[name]) === JSON.stringify(before[name])
  const used = [...new Set(migrations.map(({ connection }) => connection))].filter((name) => name !== 'System')
  return {
    id,
    text,
    waypost: manifest.waypost,
    artifacts: manifest.artifacts,
    scopes: neededScopes(manifest),
    variables: Object.entries(variables).flatMap(([name, { optional }]) => (optional ? [] : [name])),
    migrations,
    connections: Object.fromEntries(used.map((name) => [name, connections[name]!])),
    activeConnections: ['System', ...used.filter(isActive)],
  }
}

function refuseManifest(problems: readonly ManifestProblem[]): Error {
  const [first, ...others] = problems
  const problem = `${first?.path === '' ? 'it' : first?.path} ${first?.message}`.slice(0, 500)
  return errors.WP_BACKEND_MANIFEST({ problem, more: others.length === 0 ? '' : ` (and ${others.length} more)` })
}

/**
 * Keeps artifacts for `next`, once all of them are found to be sound; nothing where they do not have the right form.
 * @throws WP_BACKEND_ARTIFACT_HASH, WP_BACKEND_ARTIFACT_SIZE, WP_BACKEND_BODY
 */
function takeArtifacts(list: unknown): number {
  const isFormed = Array.isArray(list) && list.every((one: unknown) => isArtifact(one))
  const artifacts: readonly Artifact[] = isFormed ? list : []
  const sizes = artifacts.map(assertSound)
  kept = [...artifacts]
  return sizes.reduce((sum, size) => sum + size, 0)
}

function isArtifact(value: unknown): value is Artifact {
  const { hash, content } = (value ?? {}) as { readonly hash?: unknown; readonly content?: unknown }
  return typeof hash === 'string' && typeof content === 'string'
}

function assertSound({ hash, content }: Artifact): number {
  const found = sha256(content)
  if (found !== hash) throw errors.WP_BACKEND_ARTIFACT_HASH({ hash: shortId(hash), found: shortId(found) })
  if (!isStorable(content))
    throw errors.WP_BACKEND_BODY({ reason: `artifact ${shortId(hash)} contains a NUL character` })
  const bytes = Buffer.byteLength(content)
  const limit = releaseLimits.artifactBytes
  if (bytes > limit) throw errors.WP_BACKEND_ARTIFACT_SIZE({ hash: shortId(hash), bytes, limit })
  return bytes
}
