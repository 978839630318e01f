import type { IncomingMessage, ServerResponse } from 'node:http'

/** Records spans of requests and actions. */
export interface Tracing {
  /** Runs work in the span of a request. The span continues the caller's trace and ends with the response. */
  request(request: IncomingMessage, response: ServerResponse, work: () => void): void
  /** Names the current request's span by its route. */
  setRoute(method: string, route: string): void
  /** Runs an action in its own span, which ends when the returned promise settles. */
  action<Value>(name: string, work: () => Value): Value
}
