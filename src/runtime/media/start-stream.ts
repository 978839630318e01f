import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Guard } from '../../auth/index.ts'
import { networkOf } from '../../kit/index.ts'
import type { ManifestMethod } from '../../release/index.ts'
import { errors } from '../errors.ts'
import { LeanResponse } from '../lean-messages.ts'
import type { RunningActions } from '../running-actions.ts'
import type { ItemStream } from './item-stream.ts'
import { isItemTypeOf } from './negotiate.ts'
import type { OpenStreams } from './open-streams.ts'
import type { StreamGroup } from './stream-group.ts'

export interface StreamSources {
  readonly guard: Pick<Guard, 'watch'>
  readonly streams: OpenStreams
  /** How many streams a caller may have open at the same time. */
  readonly streamsPerPrincipal: number
}

export interface StreamingMethod {
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
  reply.raw.once('close', free)
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
 * Follows a stream while it is sent. When its caller may no longer have it, the server stops, or other code replaces the
 * method, the connection is cut: a normal end would tell the client that there is no more to come.
 */
export function startStream(
  reply: FastifyReply,
  stream: ItemStream,
  { guard, streams }: StreamSources,
  of: StreamingMethod,
): void {
  const { raw, request } = reply
  let ending: Ending | undefined
  let isReturned = false
  let isReturning = false
  // While the source ends, it may still use its connections.
  const returning = () => {
    if (!isReturned && !isReturning) of.running.begin()
    isReturning = true
  }
  stream.onReturned = () => {
    isReturned = true
    if (isReturning) of.running.end()
  }
  const cut = (why: Ending) => {
    ending ??= why
    returning()
    raw.destroy()
  }
  stream.onStart = () => setImmediate(() => raw.headersSent || raw.destroyed || raw.flushHeaders())
  const { authorization } = request.headers
  const isKnown = request.principal !== undefined && authorization !== undefined
  const scopes = of.method.public ? [] : of.method.scopes
  const forget = [
    streams.add(stream),
    of.group.add(() => cut('code replaced')),
    isKnown ? guard.watch(authorization, scopes, () => cut('access ended')) : undefined,
  ]
  if (raw instanceof LeanResponse) raw.onStop = () => cut('server stops')
  raw.once('close', () => {
    for (const one of forget) one?.()
    returning()
    stream.destroy()
    ending ??= stream.errored !== null ? 'failed' : raw.writableFinished ? 'finished' : 'client left'
    const seconds = Math.round(reply.elapsedTime / 100) / 10
    request.log.info({ ending, items: stream.count, seconds, user: request.principal?.user.name }, 'stream ended')
  })
}
