import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FileOptions } from '../../contract/index.ts'
import { FileResponse } from '../action-response.ts'
import { assertPrecondition, hasVersion, type ConditionalRequest } from '../conditions.ts'
import { errors } from '../errors.ts'
import { ActionProblem } from '../problem.ts'
import { writeContentDisposition } from './content-disposition.ts'
import { openFile } from './open-file.ts'
import { parseRange, type ByteRange } from './range.ts'

/** What is sent: the bytes of an open file, or of a Blob. */
interface Source {
  readonly name: string | undefined
  readonly type: string | undefined
  readonly size: number
  readonly etag?: string
  readonly modifiedMs?: number
  read(range?: ByteRange): Promise<Uint8Array | Readable>
  close(): void
}

interface Asking {
  readonly request: ConditionalRequest
  readonly now: number
  /** Replaces the ETag of the file, whose last change does not matter then. */
  readonly etag?: string
  /** Closes the file at the end of the response at the latest, for an action that does not return it. */
  closeLater(stream: Readable): void
}

/**
 * Makes the response of `context.file`.
 * @throws a 404 problem if the file does not exist, a 412 problem, WP_RUNTIME_RANGE
 */
export async function makeFileResponse(
  source: string | URL | Blob,
  options: FileOptions,
  asking: Asking,
): Promise<FileResponse> {
  const opened = source instanceof Blob ? readBlob(source) : await readFile(source, options)
  if (opened === undefined) throw new ActionProblem(404, 'The file does not exist')
  try {
    return await respond(asking.etag === undefined ? opened : withEtag(opened, asking.etag), options, asking)
  } catch (error) {
    opened.close()
    throw error
  }
}

function withEtag(source: Source, etag: string): Source {
  const { modifiedMs: _, ...rest } = source
  return { ...rest, etag }
}

/** Of a stream that is no stream of values. */
const bytes = { objectMode: false }

function readBlob(blob: Blob): Source {
  return {
    name: blob instanceof File ? blob.name : undefined,
    type: blob.type === '' ? undefined : blob.type,
    size: blob.size,
    // The error of a stream that is read by something else is that of its reader.
    read: async (range) =>
      Readable.from((range === undefined ? blob : blob.slice(range.start, range.end + 1)).stream(), bytes),
    close: () => undefined,
  }
}

async function readFile(source: string | URL, { root }: FileOptions): Promise<Source | undefined> {
  if (typeof source === 'string' && root === undefined)
    throw new TypeError('context.file needs { root: FOLDER } for a path; a file of the project is a URL')
  const file = await openFile(source, root)
  return file && { ...file, type: undefined }
}

async function respond(
  source: Source,
  options: FileOptions,
  { request, now, closeLater }: Asking,
): Promise<FileResponse> {
  const { etag, size } = source
  const lastModified = source.modifiedMs === undefined ? undefined : new Date(source.modifiedMs).toUTCString()
  if (etag !== undefined && request.headers['if-match'] !== undefined)
    assertPrecondition({ method: 'GET', headers: request.headers }, etag)
  const isRead = request.method === 'GET' || request.method === 'HEAD' // 304 is for these only
  const isKnown = isRead && hasVersion(request.headers, { etag, lastModified })
  const mayBeDivided = request.method === 'GET' && !isKnown
  const range = mayBeDivided ? findRange(request, source, { lastModified, now }) : undefined
  const type = options.type ?? source.type
  const headers: OutgoingHttpHeaders = {
    ...(type !== undefined && { 'content-type': type }),
    ...(etag !== undefined && { etag }),
    ...(lastModified !== undefined && { 'last-modified': lastModified }),
    'content-disposition': writeContentDisposition(
      options.inline === true ? 'inline' : 'attachment',
      options.name ?? source.name,
    ),
    'accept-ranges': 'bytes',
    'content-length': range === undefined ? size : range.end - range.start + 1,
    ...(range !== undefined && { 'content-range': `bytes ${range.start}-${range.end}/${size}` }),
  }
  const status = range === undefined ? 200 : 206
  if (request.method === 'HEAD' || isKnown) {
    source.close()
    return new FileResponse(status, Readable.from([], bytes), headers) // not bytes, whose ETag would be that of nothing
  }
  const body = await source.read(range)
  if (body instanceof Readable) closeLater(body)
  return new FileResponse(status, body, headers)
}

/** @throws WP_RUNTIME_RANGE */
function findRange(
  { headers }: ConditionalRequest,
  { size, etag, modifiedMs }: Source,
  { lastModified, now }: { readonly lastModified: string | undefined; readonly now: number },
): ByteRange | undefined {
  const { range, 'if-range': ifRange } = headers
  if (range === undefined) return undefined
  // A file that was changed within a second of this response may change again without another date.
  const isOld = modifiedMs !== undefined && now - modifiedMs >= 2000
  if (ifRange !== undefined && ifRange !== etag && !(ifRange === lastModified && isOld)) return undefined
  const found = parseRange(String(range), size)
  if (found !== 'unsatisfiable') return found
  throw errors.WP_RUNTIME_RANGE({ size }, { headers: { 'content-range': `bytes */${size}` } })
}
