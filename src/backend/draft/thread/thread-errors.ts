import { EditRefused } from '../../../definition/index.ts'
import { isWaypostError, WaypostError, type Diagnostic } from '../../../kit/index.ts'
import { DraftBroken } from '../draft-broken.ts'

/** An error as it is sent between threads. */
export type SentError =
  | { readonly broken: readonly Diagnostic[] }
  | { readonly refused: Pick<EditRefused, 'reason' | 'file' | 'line'> }
  | { readonly known: Pick<WaypostError, 'code' | 'kind' | 'status' | 'message' | 'hint' | 'brief'> }
  | { readonly message: string; readonly stack: string | undefined }

export function serializeError(error: unknown): SentError {
  if (error instanceof DraftBroken) return { broken: error.diagnostics }
  if (error instanceof EditRefused) {
    const { reason, file, line } = error
    return { refused: { reason, file, line } }
  }
  if (isWaypostError(error)) {
    const { code, kind, status, message, hint, brief } = error
    return { known: { code, kind, status, message, hint, brief } }
  }
  return error instanceof Error
    ? { message: error.message, stack: error.stack }
    : { message: String(error), stack: undefined }
}

export function restoreError(sent: SentError): Error {
  if ('broken' in sent) return new DraftBroken(sent.broken)
  if ('refused' in sent) return new EditRefused(sent.refused)
  if ('known' in sent) {
    const { code, brief, ...row } = sent.known
    return new WaypostError(code, row, { brief })
  }
  return Object.assign(new Error(sent.message), sent.stack === undefined ? {} : { stack: sent.stack })
}
