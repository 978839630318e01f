import type { Readable } from 'node:stream'
import type { Log, Principal } from '../contract/index.ts'
import type { ConditionalRequest } from './conditions.ts'

/** The part of a context that belongs to one request, run or call. */
export interface RequestSources {
  readonly principal: Principal | undefined
  readonly log: Log
  readonly signal: AbortSignal
  /** Shows how far the run of a listener is; undefined for other actions. */
  readonly progress?: ((value: number, text?: string) => void) | undefined
  /** What `context.precondition` checks; undefined in a cronjob. */
  readonly conditions?: ConditionalRequest | undefined
  /** The declared media type that the caller prefers; undefined if only JSON is declared. */
  readonly accepts?: string | undefined
  /** Destroys a stream when the response has ended; undefined in a cronjob. */
  readonly closeLater?: ((stream: Readable) => void) | undefined
  /** How many calls of methods this is in. */
  readonly depth?: number
}
