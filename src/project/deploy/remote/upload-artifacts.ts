import type { ArtifactsRequest } from '../../../backend/index.ts'
import { sha256 } from '../../../kit/index.ts'
import { hashFiles, type Artifact, type DefinitionFile } from '../../../release/index.ts'
import type { Deployable, Upload } from '../target.ts'

const maxConcurrentUploads = 3

/** What a deployment uploads. */
type Sent = Pick<Deployable, 'release' | 'files'>

function toArtifact({ content }: DefinitionFile): Artifact {
  return { hash: sha256(content), content }
}

export interface Uploader {
  /** Uploads those artifacts that the server lacks. */
  upload(sent: Sent, missing: readonly string[]): Promise<Upload | undefined>
  uploadAll(sent: Sent): Promise<Upload | undefined>
}

/** @param post sends one group to the server */
export function makeUploader(post: (group: ArtifactsRequest['artifacts']) => Promise<unknown>): Uploader {
  async function upload({ release, files }: Sent, missing: readonly string[]): Promise<Upload | undefined> {
    if (missing.length === 0) return undefined
    const wanted = new Set(missing)
    const texts = new Map([...release.artifacts, ...files.map(toArtifact)].map(({ hash, content }) => [hash, content]))
    const chosen = [...texts].map(([hash, content]) => ({ hash, content })).filter(({ hash }) => wanted.has(hash))
    await forEachConcurrently(groupUploads(chosen), (group) => post([...group]))
    return { artifacts: chosen.length, bytes: chosen.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) }
  }
  const uploadAll = (sent: Sent) =>
    upload(sent, [...Object.keys(sent.release.manifest.artifacts), ...Object.values(hashFiles(sent.files))])
  return { upload, uploadAll }
}

/** Processes items concurrently. After a failure no more are started, and running ones are awaited. */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const waiting = items.values()
  let hasFailed = false
  const worker = async () => {
    for (const item of waiting) {
      if (hasFailed) return
      await work(item).catch((error: unknown) => {
        hasFailed = true
        throw error
      })
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: maxConcurrentUploads }, worker))
  for (const end of ended) if (end.status === 'rejected') throw end.reason
}

/** Below 1 MB, the default body limit of proxies, even if nothing can be compressed. */
const maxBytes = 700 * 1024
const maxArtifacts = 500

/** Groups artifacts that fit into one request. A large one is alone. */
export function groupUploads(artifacts: readonly Artifact[]): readonly (readonly Artifact[])[] {
  const groups: Artifact[][] = []
  let remaining = 0
  for (const artifact of artifacts) {
    const bytes = Buffer.byteLength(artifact.content)
    const last = groups.at(-1)
    if (last === undefined || bytes > remaining || last.length >= maxArtifacts) {
      groups.push([artifact])
      remaining = maxBytes - bytes
    } else {
      last.push(artifact)
      remaining -= bytes
    }
  }
  return groups
}
