import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Action } from '../../contract/index.ts'
import { pathOfFileArtifact, type Manifest, type ManifestMethod, type ManifestStatic } from '../../release/index.ts'
import { ActionResponse } from '../action-response.ts'
import { chooseCoding, isCompressible } from '../compression.ts'
import { makeHandler, type MethodToMount } from '../make-handler.ts'
import { makeFileResponse } from '../media/make-file-response.ts'
import { StreamGroup } from '../media/stream-group.ts'
import { methodNotAllowed } from '../problem.ts'
import { RouteCounter } from '../route-statistics.ts'
import type { RunningActions } from '../running-actions.ts'
import { CodedFiles } from './coded-files.ts'
import { contentTypeOf } from './content-types.ts'
import { StaticFolders, type FoundFile } from './find-file.ts'

type Sources = Parameters<typeof makeHandler>[0]

/**
 * Serves a file, if the path leads to one that no route has.
 * @returns whether the request was answered
 * @throws WP_RUNTIME_METHOD
 */
export type ServeFile = (request: FastifyRequest, reply: FastifyReply) => boolean

/** A file is sent as the result of a method that anyone may call, and whose pages may have scripts. */
const method: ManifestMethod = {
  method: 'GET',
  public: true,
  scopes: [],
  responses: {},
  html: 'trusted',
  compression: false, // files are compressed once, not for each response
  action: { artifact: '', file: 'static files' },
}

/** Makes the function that serves the files of a release's static folders; undefined if there are none. */
export function makeServeFile(sources: Sources, manifest: Manifest, running: RunningActions): ServeFile | undefined {
  const folders = new StaticFolders(manifest)
  if (folders.isEmpty) return undefined
  const coded = new CodedFiles()
  const found = new WeakMap<object, Extract<FoundFile, { hash: string }>>()
  const action: Action = {
    handle: (request) =>
      respond(found.get(request.headers)!, request, { coded, isCompressed: sources.compression }) as never,
  }
  const mounting: MethodToMount = {
    route: { path: '/', methods: [method] },
    method,
    action,
    steps: [],
    counter: new RouteCounter(),
    running,
    group: new StreamGroup(),
  }
  const handle = makeHandler(sources, mounting)
  return (request, reply) => {
    const file = folders.find(request.url.split('?', 1)[0]!, asksForPage(request))
    if (file === undefined) return false
    if (request.method === 'OPTIONS') {
      void reply.code(204).header('allow', 'GET, HEAD, OPTIONS').send()
      return true
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      if ('isFallback' in file) return false
      const about = { path: request.url.split('?', 1)[0]!.slice(0, 200), method: request.method }
      throw methodNotAllowed({ ...about, allowed: ['GET', 'HEAD'] })
    }
    if ('redirect' in file) {
      redirect(request, reply, file.redirect)
      return true
    }
    found.set(request.headers, file)
    handle(request, reply)
    return true
  }
}

/** Whether a browser wants to show a page. Scripts that fetch something accept any type. */
function asksForPage({ method: name, headers: { accept } }: FastifyRequest): boolean {
  return (name === 'GET' || name === 'HEAD') && accept !== undefined && /(^|[,\s])text\/html\s*(;|,|$)/i.test(accept)
}

/** Relative, so that it is right below any path under which a proxy serves this server. */
function redirect({ url }: FastifyRequest, reply: FastifyReply, last: string): void {
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : ''
  const name = last === '' ? url.split('?', 1)[0]!.split('/').at(-1)! : encodeURIComponent(last)
  void reply.redirect(`./${name}/${query}`, 302)
}

interface Serving {
  readonly coded: CodedFiles
  readonly isCompressed: boolean
}

async function respond(
  { folder, name, hash }: Extract<FoundFile, { hash: string }>,
  request: Pick<FastifyRequest, 'method' | 'headers'>,
  { coded, isCompressed }: Serving,
): Promise<ActionResponse> {
  const file = pathOfFileArtifact(hash)
  const type = contentTypeOf(name)
  const etag = `"${hash.slice(0, 32)}"`
  const common = { 'content-type': type, 'cache-control': cacheControlOf(folder, type) }
  const isCodable = isCompressed && isCompressible(type)
  const vary = isCodable ? { vary: 'Accept-Encoding' } : {}
  const coding = isCodable && request.headers.range === undefined ? chooseCoding(request.headers) : undefined
  const bytes = coding === undefined ? undefined : await coded.get(hash, file, coding)
  if (bytes !== undefined)
    return new ActionResponse(200, streamOf(bytes), {
      ...common,
      ...vary,
      etag: `"${hash.slice(0, 32)};${coding}"`,
      'content-encoding': coding,
      'content-length': bytes.length,
    })
  const made = await makeFileResponse(
    pathToFileURL(file),
    { type },
    { request, now: 0, closeLater: () => undefined, etag },
  )
  const { 'content-disposition': _, 'last-modified': __, ...headers } = made.headers
  return new ActionResponse(made.status, made.body, { ...headers, ...common, ...vary })
}

/** Pages name other files, which a later release may not have. */
function cacheControlOf({ maxAgeMs = 0 }: ManifestStatic, type: string): string {
  return maxAgeMs === 0 || type.startsWith('text/html') ? 'public, no-cache' : `public, max-age=${maxAgeMs / 1000}`
}

const chunkBytes = 64 * 1024

/** Large files are sent in parts, so that clients which read slowly do not count with all of it. */
function streamOf(bytes: Uint8Array): Uint8Array | Readable {
  if (bytes.length <= chunkBytes) return bytes
  const parts = function* () {
    for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes)
  }
  return Readable.from(parts(), { objectMode: false })
}
