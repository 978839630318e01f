import type { FastifyReply, FastifyRequest } from 'fastify'
import { findRestParameter, isPlainRest } from '../kit/index.ts'
import { errors } from './errors.ts'
import { maxParamLength, pathOf } from './problem.ts'
import type { Handler } from './make-handler.ts'

/** Returns the path of a route as the router writes it, which has no names for the rest of a path. */
export function toRouterPath(path: string): string {
  const rest = findRestParameter(path)
  return rest === undefined ? path : path.slice(0, -rest.length)
}

/**
 * Gives the rest of the path its name. It is decoded, so an encoded slash divides segments too; what could lead out of a
 * folder is rejected.
 */
export function withRest(name: string, handle: Handler): Handler {
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { '*': rest = '', ...params } = request.params as Readonly<Record<string, string>>
    if (rest === '') throw errors.WP_RUNTIME_NOT_FOUND({ path: pathOf(request) })
    if (rest.length > maxParamLength) throw errors.WP_RUNTIME_PATH_SIZE({ limit: maxParamLength })
    if (!isPlainRest(rest)) {
      const reason = 'The path contains an empty segment, a backslash, or "." or ".." as a segment'
      throw errors.WP_RUNTIME_REQUEST({ reason })
    }
    request.params = { ...params, [name]: rest }
    handle(request, reply)
  }
}
