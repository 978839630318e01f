import type { Readable } from 'node:stream'
import { errors } from './errors.ts'

export interface Written {
  /** A text, a stream or bytes; undefined for a response without a body. */
  readonly payload: string | Readable | Uint8Array | undefined
  /** The content type; empty without a body. */
  readonly type: string
  readonly isJson: boolean
  /** Fields that the schema does not declare; only if results are checked. */
  readonly dropped?: readonly string[] | undefined
  /** A field that is NaN or infinite and was written as null. */
  readonly infinite?: string | undefined
}

/** A response in messages. */
export interface ResponseId {
  readonly action: string
  readonly status: number
}

export type WrittenJson = Pick<Written, 'dropped' | 'infinite'> & { readonly payload: string | undefined }

export function makeResultError({ action, status }: ResponseId, reason: string, cause?: unknown): Error {
  return errors.WP_RUNTIME_RESULT({ action, status, reason }, { cause })
}
