import type { IncomingHttpHeaders } from 'node:http'

/** A response that a test got. */
export interface ReceivedAnswer {
  readonly method: string
  /** As sent, with the query string. */
  readonly path: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Begins the check of one response, when its request is sent. */
export type BeginCheck = () => (answer: ReceivedAnswer) => Promise<void>

/** By port: what checks the responses of a server that `send` gets. */
export const answerChecks = new Map<number, BeginCheck>()
