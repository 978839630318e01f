import type { IncomingMessage, ServerResponse } from 'node:http'

/** Spans of requests and actions, where somebody collects them. */
export interface Tracing {
  /** Works on a request within its span, which ends with the response and goes on what the caller began. */
  request(request: IncomingMessage, response: ServerResponse, work: () => void): void
  /** Names the span of the request that is worked on by its route. */
  found(method: string, route: string): void
  /** Runs an action within a span of its own, which ends when its promise does. */
  action<Value>(name: string, work: () => Value): Value
}
