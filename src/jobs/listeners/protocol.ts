import type { ClaimedRun, RunResult } from '../../events/index.ts'

// What a worker and the child process that runs listeners tell each other.

/** From the worker. */
export type ToChild =
  | { readonly start: StartOrder }
  /** The JSON text of a list of `RunToStart`: it costs much less than a list of objects. */
  | { readonly runs: string }

export interface StartOrder {
  readonly folder: string
  readonly releaseId: string
  readonly logLevel: string
  /** Whether the operating system ends the child with its worker. */
  readonly endsWithParent: boolean
}

export interface RunToStart {
  readonly run: ClaimedRun
  readonly timeoutMs: number
  readonly once: boolean
}

/** From the child, as the JSON text of a list: a message costs more than a run that does little. `turn` tells apart runs with the same id. */
export type FromChild =
  | { readonly ready: true }
  | { readonly failed: string; readonly isExternal: boolean }
  | { readonly ended: string; readonly turn: number; readonly result: RunResult; readonly log: string | null }
  /** What a run has logged so far. */
  | { readonly logged: string; readonly turn: number; readonly log: string | null }
  /** The transaction of a run with `once` keeps all others from writing. */
  | { readonly locked: string; readonly turn: number }
  | { readonly progress: string; readonly turn: number; readonly value: number; readonly text?: string | undefined }

const maxTime = 8.64e15
/** A little more than a kept log has. */
const maxLog = 20_000
const kinds = new Set(['done', 'recorded', 'failed', 'dead', 'discarded', 'lost', 'repeated', 'postponed'])

/** Checks what a child sends, because the code in it may send anything. */
export function readMessages(text: unknown): readonly FromChild[] {
  const messages = parseText(text)
  if (!Array.isArray(messages)) return []
  return messages.map(readMessage).filter((message) => message !== undefined)
}

function parseText(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

function readMessage(message: unknown): FromChild | undefined {
  if (typeof message !== 'object' || message === null) return undefined
  const one = message as Record<string, unknown>
  if (one['ready'] === true) return { ready: true }
  if (typeof one['failed'] === 'string') return { failed: one['failed'], isExternal: one['isExternal'] === true }
  if (typeof one['turn'] !== 'number') return undefined
  if (typeof one['locked'] === 'string') return { locked: one['locked'], turn: one['turn'] }
  const log = typeof one['log'] === 'string' ? one['log'].slice(0, maxLog) : null
  if (typeof one['logged'] === 'string') return { logged: one['logged'], turn: one['turn'], log }
  if (typeof one['progress'] === 'string') {
    const { progress, turn, value, text } = one
    if (typeof value !== 'number' || !(value >= 0 && value <= 1)) return undefined
    return {
      progress,
      turn,
      value,
      text: typeof text === 'string' ? text.slice(0, 200) : undefined,
    }
  }
  const { ended, turn, result } = one as { ended: unknown; turn: number; result: Record<string, unknown> | undefined }
  if (typeof ended !== 'string' || !kinds.has(String(result?.['kind']))) return undefined
  return { ended, turn, result: readResult(result!), log }
}

function readResult(result: Record<string, unknown>): RunResult {
  const reason = typeof result['reason'] === 'string' ? result['reason'] : ''
  switch (result['kind']) {
    case 'done':
    case 'recorded':
      return { kind: result['kind'] }
    case 'postponed':
      return { kind: 'postponed', until: readTime(result['until']) }
    case 'repeated':
      return { kind: 'repeated', reason, delayMs: readTime(result['delayMs']) }
    default:
      return { kind: result['kind'] as 'failed' | 'dead' | 'discarded' | 'lost', reason }
  }
}

/** A whole number that every database can store. */
function readTime(value: unknown): number {
  const number = Math.round(Number(value))
  return Number.isNaN(number) ? 0 : Math.min(Math.max(number, 0), maxTime)
}
