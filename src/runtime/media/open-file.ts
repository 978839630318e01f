import {
  constants,
  close,
  createReadStream,
  fstat,
  open,
  read,
  readlinkSync,
  realpath,
  type BigIntStats,
} from 'node:fs'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ByteRange } from './range.ts'

/** An open file. */
export interface OpenFile {
  readonly name: string
  readonly size: number
  /** By the time of the last change, in nanoseconds, and the size. */
  readonly etag: string
  /** In whole seconds, as HTTP dates are. */
  readonly modifiedMs: number
  /** Returns its bytes, or a stream of many, and closes the file after that. Call it once. */
  read(range?: ByteRange): Promise<Uint8Array | Readable>
  close(): void
}

// Callbacks, because a FileHandle that is not closed ends the process when it is collected.
const openFd = promisify(open)
const statFd = promisify(fstat) as unknown as (fd: number, options: { bigint: true }) => Promise<BigIntStats>
const readFd = promisify(read)
const resolveLinks = promisify(realpath.native)
// Opening a pipe must not wait for a writer.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)
const flagsInside = flags | (constants.O_NOFOLLOW ?? 0)

/** What the operating system says of a path that leads to no file. */
const missing = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EISDIR', 'EINVAL', 'ENXIO'])
/** What it also says of names that a caller may choose. */
const refused = new Set(['EACCES', 'EPERM', 'ERR_INVALID_ARG_VALUE'])

/**
 * Opens a file of the server.
 * @param root the folder that must contain it; `source` is then a path in it that a caller may have chosen
 * @returns undefined if there is no such file
 * @throws TypeError for a path without `root`
 */
export async function openFile(source: string | URL, root: string | URL | undefined): Promise<OpenFile | undefined> {
  try {
    if (root === undefined) return await openPath(toPath(source), flags)
    const place = findPlace(toPath(root), source)
    if (place === undefined) return undefined
    const opened = await openKnown(place)
    if (opened !== undefined) return opened
    const file = await findInside(place)
    return file === undefined ? undefined : await openPath(file, flagsInside)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (missing.has(code) || (root !== undefined && refused.has(code))) return undefined
    throw error
  }
}

function toPath(source: string | URL): string {
  return source instanceof URL ? fileURLToPath(source) : path.resolve(source)
}

/** A path in a folder, whose links were not followed yet. */
interface Place {
  readonly root: string
  readonly segments: readonly string[]
}

/** Returns where a name leads to in a folder; undefined if it is elsewhere or hidden. */
function findPlace(root: string, name: string | URL): Place | undefined {
  if (name instanceof URL) throw new TypeError('context.file needs a path below its root, not a URL')
  const segments = name.split(path.sep === '\\' ? /[/\\]/ : '/')
  const isInside = segments.every((one) => one !== '' && !one.startsWith('.') && !one.includes('\0'))
  return !isInside || path.isAbsolute(name) ? undefined : { root, segments }
}

/** Only there, the path of an open file can be asked for without waiting. */
const openFilesFolder = process.platform === 'linux' ? '/proc/self/fd' : undefined

/**
 * Opens a file without following each part of its path: the folder that contains it was resolved within the last second,
 * and the system says whether the file that was opened is the expected one.
 * @returns undefined if that is not known
 */
async function openKnown({ root, segments }: Place): Promise<OpenFile | undefined> {
  if (openFilesFolder === undefined) return undefined
  const names = segments.slice(0, -1)
  const [folder, parent] = await Promise.all([resolveFolder(root), resolveFolder(path.join(root, ...names))])
  if (parent !== path.join(folder, ...names)) return undefined
  const file = path.join(parent, segments.at(-1)!)
  return openPath(file, flagsInside, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ELOOP') return undefined // a link, which may lead to another file of the folder
    throw error
  })
}

/** Whether an open file is the one at a path, without links. */
function isAt(fd: number, file: string): boolean {
  try {
    return readlinkSync(`${openFilesFolder}/${fd}`) === file
  } catch {
    return false // for example without /proc
  }
}

/** Returns the path of a file in a folder, without links; undefined if it is elsewhere. */
async function findInside({ root, segments }: Place): Promise<string | undefined> {
  const folder = await resolveFolder(root)
  const file = await resolveLinks(path.join(folder, ...segments))
  const relative = path.relative(folder, file)
  const isOutside = relative === '' || relative.split(path.sep)[0] === '..' || path.isAbsolute(relative)
  return isOutside ? undefined : file
}

const resolvedFolders = new Map<string, { readonly folder: Promise<string>; readonly until: number }>()
const folderMs = 1000
const maxFolders = 100

/** Returns the folder that a path leads to, which may be a link. Remembered for a second. */
function resolveFolder(root: string): Promise<string> {
  const now = performance.now()
  const known = resolvedFolders.get(root)
  if (known !== undefined && known.until > now) return known.folder
  if (resolvedFolders.size >= maxFolders) resolvedFolders.clear()
  const folder = resolveLinks(root)
  resolvedFolders.set(root, { folder, until: now + folderMs })
  folder.catch(() => resolvedFolders.delete(root)) // it may be created now
  return folder
}

/** @param expected the path that the open file must have */
async function openPath(file: string, openFlags: number, expected?: string): Promise<OpenFile | undefined> {
  const fd = await openFd(file, openFlags)
  let isClosed = false
  const closeFile = () => {
    if (!isClosed) close(fd, () => undefined)
    isClosed = true // another file may get the number
  }
  try {
    if (expected !== undefined && !isAt(fd, expected)) {
      closeFile()
      return undefined
    }
    const stats = await statFd(fd, { bigint: true })
    if (stats.isFile()) return describeFile(file, { fd, stats, close: closeFile })
  } catch (error) {
    closeFile()
    throw error
  }
  closeFile()
  return undefined
}

function describeFile(
  file: string,
  { fd, stats, close: closeFile }: { readonly fd: number; readonly stats: BigIntStats; close(): void },
): OpenFile {
  const size = Number(stats.size)
  return {
    name: path.basename(file),
    size,
    etag: `"${stats.mtimeNs.toString(36)}-${size.toString(36)}"`,
    modifiedMs: Number(stats.mtimeMs - (stats.mtimeMs % 1000n)),
    // A file that grows meanwhile must not exceed its announced length.
    async read({ start, end } = { start: 0, end: size - 1 }) {
      const length = end - start + 1
      if (length > maxBytesAtOnce) return streamPart(fd, { start, end })
      try {
        return await readPart(fd, start, length)
      } finally {
        closeFile()
      }
    },
    close: closeFile,
  }
}

/** Reading this much at once takes less time than a stream. */
const maxBytesAtOnce = 64 * 1024

const shorter = 'the file has become shorter'

/**
 * Returns a stream of a part of a file. It fails if the file has become shorter: a client would wait for the rest, or take
 * the next response of its connection for it.
 */
function streamPart(fd: number, { start, end }: ByteRange): Readable {
  const stream = createReadStream('', { fd, start, end })
  const push = stream.push.bind(stream)
  let missing = end - start + 1
  stream.push = (chunk: Buffer | null) => {
    missing -= chunk?.length ?? 0
    if (chunk !== null || missing === 0) return push(chunk)
    stream.destroy(new Error(shorter))
    return false
  }
  return stream
}

/** @throws if the file has become shorter */
async function readPart(fd: number, start: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(length)
  for (let position = 0; position < length;) {
    const { bytesRead } = await readFd(fd, bytes, position, length - position, start + position)
    if (bytesRead === 0) throw new Error(shorter)
    position += bytesRead
  }
  return bytes
}
