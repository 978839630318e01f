import type { FastifyRequest } from 'fastify'
import type { ManifestMethod, ManifestRoute } from '../release/index.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Fields of the result that were not sent; set if results are checked. */
    dropped: DroppedFields | undefined
  }
}

/**
 * Fields that an action returned but that the schema does not declare. `fields` are JSON pointers without the leading
 * slash.
 */
export interface DroppedFields {
  readonly action: string
  readonly fields: readonly string[]
}

export function reportDropped(request: FastifyRequest, dropped: DroppedFields): void {
  request.dropped = dropped
  const { action, fields } = dropped
  request.log.warn({ action, dropped: fields }, 'result has fields that are not in its schema')
}

/** Names the action of a method in messages. */
export function nameAction({
  route,
  method,
}: {
  readonly route: ManifestRoute
  readonly method: ManifestMethod
}): string {
  return 'file' in method.action ? method.action.file : `${method.method} ${route.path}`
}
