import { openAsBlob } from 'node:fs'
import { open, rm, type FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { isWaypostError } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { agreesWithType, signatureBytes } from './file-type.ts'
import { releasePath, reservePath } from './upload-folder.ts'
import { giveSpace, takeSpace } from './upload-space.ts'

/** Files up to this size stay in memory. */
export const maxMemoryBytes = 64 * 1024

/** How many bytes are written at once. */
const writtenBytes = 512 * 1024

const ended = 'The request has ended'

/** What a request keeps on disk until its response has ended. */
export class TemporaryFiles {
  readonly #limit: number
  readonly #paths: string[] = []
  #bytes = 0
  #isRemoved = false

  get isRemoved(): boolean {
    return this.#isRemoved
  }

  /** @param limit how many bytes the uploads of the process may use */
  constructor(limit: number) {
    this.#limit = limit
  }

  take(bytes: number): void {
    if (this.#isRemoved) throw new Error(ended)
    takeSpace(bytes, this.#limit)
    this.#bytes += bytes
  }

  reserve(): string {
    if (this.#isRemoved) throw new Error(ended)
    const file = reservePath()
    this.#paths.push(file)
    return file
  }

  /** Removes the files. Call it once nothing is written to them. */
  async remove(): Promise<void> {
    this.#isRemoved = true
    giveSpace(this.#bytes)
    this.#bytes = 0
    await Promise.all(this.#paths.splice(0).map(releasePath))
  }
}

export interface FileToReceive {
  /** The name of its part. */
  readonly part: string
  readonly name: string
  readonly type: string
  readonly maxSize: number
  readonly temporary: TemporaryFiles
}

/** What is known about a file that was received. */
export type Received = { readonly file: File } | { readonly problem: string }

/**
 * Receives a file: a small one in memory, another one in a temporary file, as it arrives.
 * @throws WP_RUNTIME_PART_SIZE, WP_RUNTIME_UPLOAD_SPACE
 */
export async function receiveFile(stream: Readable, about: FileToReceive): Promise<Received> {
  const { part, name, type, maxSize, temporary } = about
  const chunks: Buffer[] = []
  let writer: FileWriter | undefined
  let size = 0
  let isChecked = false
  const isWrong = (): boolean => {
    isChecked = true
    return !agreesWithType(type, startOf(chunks))
  }
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxSize) throw errors.WP_RUNTIME_PART_SIZE({ name: part, limit: maxSize })
      if (writer === undefined) chunks.push(chunk)
      if (!isChecked && size >= signatureBytes && isWrong())
        return { problem: `does not begin like a file of type ${type}` }
      if (writer !== undefined) await writer.write(chunk)
      else if (size > maxMemoryBytes) {
        writer = await FileWriter.open(temporary)
        for (const one of chunks.splice(0)) await writer.write(one)
      }
    }
    if (!isChecked && isWrong()) return { problem: `does not begin like a file of type ${type}` }
    if (writer === undefined) return { file: new File(chunks, name, { type }) }
    await writer.flush()
    return { file: new File([await openAsBlob(writer.path, { type })], name, { type }) }
  } catch (error) {
    throw toUploadError(error)
  } finally {
    await writer?.close()
  }
}

function startOf(chunks: readonly Buffer[]): Buffer {
  const [first = Buffer.alloc(0)] = chunks
  return first.length >= signatureBytes ? first : Buffer.concat(chunks, signatureBytes)
}

/** Errors of the file system mean that there is no room: the disk, a quota, the number of open files. */
function toUploadError(error: unknown): unknown {
  const { syscall } = Object(error) as NodeJS.ErrnoException
  if (isWaypostError(error) || syscall === undefined || syscall === 'read') return error
  return errors.WP_RUNTIME_UPLOAD_SPACE({}, { cause: error, retryAfterSeconds: 5 })
}

/** Writes a temporary file while the next chunks arrive. */
class FileWriter {
  readonly path: string
  readonly #handle: FileHandle
  readonly #temporary: TemporaryFiles
  #chunks: Buffer[] = []
  #length = 0
  #writing: Promise<unknown> = Promise.resolve()

  private constructor(path: string, handle: FileHandle, temporary: TemporaryFiles) {
    this.path = path
    this.#handle = handle
    this.#temporary = temporary
  }

  static async open(temporary: TemporaryFiles): Promise<FileWriter> {
    const path = temporary.reserve()
    const handle = await open(path, 'wx', 0o600)
    if (!temporary.isRemoved) return new FileWriter(path, handle, temporary)
    await handle.close()
    await rm(path, { force: true }) // it was removed before it was there
    throw new Error(ended)
  }

  async write(chunk: Buffer): Promise<void> {
    this.#temporary.take(chunk.length)
    this.#chunks.push(chunk)
    this.#length += chunk.length
    if (this.#length >= writtenBytes) await this.#begin()
  }

  /** Begins to write after the previous bytes were written. */
  async #begin(): Promise<void> {
    const chunks = this.#chunks
    this.#chunks = []
    this.#length = 0
    await this.#writing
    this.#writing = this.#writeAll(chunks)
    this.#writing.catch(() => undefined) // thrown by the next call
  }

  async #writeAll(chunks: readonly Buffer[]): Promise<void> {
    const length = chunks.reduce((sum, one) => sum + one.length, 0)
    if (length === 0) return
    const { bytesWritten } = await this.#handle.writev(chunks)
    if (bytesWritten === length) return freeMemory(chunks)
    // The file system took only a part. Another try says why, or writes the rest.
    let rest = Buffer.concat(chunks).subarray(bytesWritten)
    while (rest.length > 0) rest = rest.subarray((await this.#handle.write(rest)).bytesWritten)
  }

  async flush(): Promise<void> {
    await this.#begin()
    await this.#writing
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => undefined)
    await this.#handle.close().catch(() => undefined)
  }
}

/**
 * Frees chunks that nothing refers to. The garbage collector would let 64 MB of them add up. A chunk that is only a part
 * of its memory may share it with the beginning of the next part of the body.
 */
function freeMemory(chunks: readonly Buffer[]): void {
  for (const { buffer, byteLength } of chunks)
    if (buffer.byteLength === byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
