import { createWriteStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { releasePath, reservePath } from '../../../runtime/index.ts'
import { errors } from '../errors.ts'

export const maxUploadBytes = 256 * 1024 * 1024

/** A file that was uploaded, as long as it is needed. */
export interface Upload {
  readonly file: string
  remove(): Promise<void>
}

/**
 * Stores an upload before it is imported, so that a slow caller holds no transaction open.
 * @throws WP_BACKEND_IMPORT_SIZE
 */
export async function storeUpload(body: Readable): Promise<Upload> {
  const file = reservePath()
  let bytes = 0
  async function* limit(chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      bytes += chunk.byteLength
      if (bytes > maxUploadBytes) throw errors.WP_BACKEND_IMPORT_SIZE({ limit: maxUploadBytes })
      yield chunk
    }
  }
  try {
    await pipeline(body, limit, createWriteStream(file, { flags: 'wx', mode: 0o600 }))
    return { file, remove: () => releasePath(file) }
  } catch (error) {
    await releasePath(file)
    throw error
  }
}
