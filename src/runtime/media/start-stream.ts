import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Guard } from '../../auth/index.ts'
import { networkOf } from '../../kit/index.ts'
import type { ManifestMethod, ManifestRoute } from '../../release/index.ts'
import { errors } from '../errors.ts'
import { LeanResponse } from '../lean-messages.ts'
import { noteCut, type StreamLog } from '../report-requests.ts'
import type { RunningActions } from '../running-actions.ts'
import { nameAction, reportDropped } from '../report-dropped.ts'
import type { ItemStream, ItemStreamObserver } from './item-stream.ts'
import { isItemTypeOf } from './negotiate.ts'
import type { OpenStreams } from './open-streams.ts'
import type { StreamGroup } from './stream-group.ts'

export interface StreamSources {
  /** Logs a stream that failed after its response had begun. */
  readonly streamLog?: Pick<StreamLog, 'streamError'>
  readonly guard: Pick<Guard, 'watch'>
  readonly streams: OpenStreams
  /** How many streams a caller may have open at the same time. */
  readonly streamsPerPrincipal: number
}

export interface StreamingMethod {
  readonly route: ManifestRoute
  readonly method: ManifestMethod
  readonly running: RunningActions
  readonly group: StreamGroup
}

/**
 * Reserves a stream for the caller, who is an address without a token, until the response has ended.
 * @throws WP_RUNTIME_STREAMS
 */
export function reserveStream(
  { streams, streamsPerPrincipal: limit }: StreamSources,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { principal } = request
  const caller = principal === undefined ? `address ${networkOf(request.ip)}` : `user ${principal.user.id}`
  const free = streams.reserve(caller, limit)
  if (free === undefined) throw errors.WP_RUNTIME_STREAMS({ limit }, { retryAfterSeconds: 5 })
  // The caller may have left while its token was checked.
  if (reply.raw.closed) free()
  else reply.raw.once('close', free)
}

/** Whether a media type that was chosen for a caller is a stream that counts. */
export function makeStreamTest(method: ManifestMethod): (type: string) => boolean {
  const types = new Set(
    Object.values(method.responseTypes ?? {})
      .flatMap((declared) => Object.keys(declared))
      .filter((type) => isItemTypeOf(method, type)),
  )
  return (type) => types.has(type)
}

/** Why a stream ended. */
type Ending = 'finished' | 'failed' | 'client left' | 'access ended' | 'server stops' | 'code replaced'

/**
 * A stream that is sent. When its caller may no longer have it, the server stops, or other code replaces the method, the
 * connection is cut: a normal end would tell the client that there is no more to come. A class, because functions for each
 * stream take more memory.
 */
export class SentStream implements ItemStreamObserver {
  readonly #reply: FastifyReply
  readonly #stream: ItemStream
  readonly #sources: StreamSources
  readonly #of: StreamingMethod
  readonly #stopWatching: (() => void) | undefined
  readonly #startedAt = performance.now()
  #ending: Ending | undefined
  #isReturned = false
  #isReturning = false
  #isDirect = false

  constructor(reply: FastifyReply, stream: ItemStream, sources: StreamSources, of: StreamingMethod) {
    this.#reply = reply
    this.#stream = stream
    this.#sources = sources
    this.#of = of
    const { raw, request } = reply
    const { authorization } = request.headers
    stream.observer = this
    sources.streams.add(stream)
    of.group.add(this)
    if (request.principal !== undefined && authorization !== undefined) {
      const scopes = of.method.public ? [] : of.method.scopes
      this.#stopWatching = sources.guard.watch(authorization, scopes, () => this.cut('access ended'))
    }
    if (raw instanceof LeanResponse) raw.onStop = () => this.cut('server stops')
    // The caller may have left while the action ran.
    if (raw.closed) this.#closed()
    else raw.once('close', () => this.#closed())
  }

  /** Sends the stream without the listeners that Fastify adds to streams, and without headers that Node keeps. */
  send(): void {
    this.#isDirect = true
    const { request } = this.#reply
    this.#stream.on('error', (error) => this.#failed(error))
    request.reportStream?.(this.#reply)
    this.#stream.pipe(this.#reply.raw)
  }

  cut(why: Ending): void {
    this.#ending ??= why
    noteCut(this.#reply.request)
    this.#returning()
    this.#reply.raw.destroy()
  }

  started(): void {
    // A generator that throws at once has a response.
    if (this.#isDirect) setImmediate(() => this.#flush())
  }

  sending(): void {
    const { raw } = this.#reply
    if (this.#isDirect && !raw.headersSent && !raw.destroyed)
      raw.writeHead(this.#reply.statusCode, this.#reply.getHeaders() as OutgoingHttpHeaders)
  }

  returned(): void {
    this.#isReturned = true
    if (this.#isReturning) this.#of.running.end()
  }

  dropped(fields: readonly string[]): void {
    const { request } = this.#reply
    if (request.dropped !== undefined) return // the other items most likely have them too
    reportDropped(request, { action: nameAction(this.#of), fields })
  }

  #flush(): void {
    const { raw } = this.#reply
    if (raw.destroyed || this.#stream.destroyed) return
    this.sending()
    raw.flushHeaders()
  }

  #failed(error: Error): void {
    const { raw, request } = this.#reply
    if (!raw.headersSent && !raw.destroyed) return void this.#reply.send(error)
    this.#sources.streamLog?.streamError(error, request, this.#reply)
    raw.destroy()
  }

  /** While the source ends, it may still use its connections. */
  #returning(): void {
    if (!this.#isReturned && !this.#isReturning) this.#of.running.begin()
    this.#isReturning = true
  }

  #closed(): void {
    const { raw, request } = this.#reply
    const stream = this.#stream
    this.#sources.streams.remove(stream)
    this.#of.group.remove(this)
    this.#stopWatching?.()
    this.#returning()
    stream.destroy()
    this.#ending ??= stream.errored !== null ? 'failed' : raw.writableFinished ? 'finished' : 'client left'
    const seconds = Math.round((performance.now() - this.#startedAt) / 100) / 10
    const user = request.principal?.user.name
    request.log.info({ ending: this.#ending, items: stream.count, seconds, user }, 'stream ended')
  }
}
