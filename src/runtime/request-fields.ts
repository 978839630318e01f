import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * Declares a field of requests that most requests do not have. A decorator with a value would set the field on every
 * request.
 */
export function declareField<Name extends 'bodyBytes' | 'dropped' | 'reason'>(
  app: FastifyInstance,
  name: Name,
  initial: FastifyRequest[Name],
): void {
  const key = Symbol(name)
  interface Holder {
    [key]?: FastifyRequest[Name]
  }
  const field = {
    getter(this: Holder): FastifyRequest[Name] {
      return this[key] ?? initial
    },
    setter(this: Holder, value: FastifyRequest[Name]): void {
      this[key] = value
    },
  }
  app.decorateRequest(name as string, field as object)
}
