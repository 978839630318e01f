import { readFile } from 'node:fs/promises'
import { compressBytes, minBytes, type Coding } from '../compression.ts'

/** Files of a release that were compressed before. */
export class CodedFiles {
  readonly #known = new Map<string, Promise<Uint8Array | undefined>>()

  /** Returns a file with a content coding, which is compressed once; undefined if that is not worth it. */
  async get(hash: string, file: string, coding: Coding): Promise<Uint8Array | undefined> {
    const key = `${hash} ${coding}`
    const made = this.#known.get(key) ?? compressFile(file, coding)
    this.#known.set(key, made)
    made.catch(() => this.#known.delete(key))
    return made
  }
}

async function compressFile(file: string, coding: Coding): Promise<Uint8Array | undefined> {
  const bytes = await readFile(file)
  if (bytes.length < minBytes) return undefined
  const made = await compressBytes(bytes, coding)
  return made.length < bytes.length ? made : undefined
}
