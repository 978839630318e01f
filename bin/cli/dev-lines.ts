import { hideSecretsInUrl, hideTokens, isWaypostError, messageOf, toPrintable } from '../../src/kit/index.ts'
import type { DevConsole } from '../../src/project/index.ts'
import { paint } from './format.ts'

type Answered = Parameters<DevConsole['answered']>[0]
type Logged = Parameters<DevConsole['logged']>[0]

export interface LineOptions {
  /** Columns of the terminal; undefined for no limit. */
  readonly width: number | undefined
  /** How many times in a row the same request got the same response. */
  readonly times?: number
}

/** The width of the time at the start of a line. */
export const margin: string = ' '.repeat(10)

/** Formats a request as one line, or two if its reason does not fit on a narrow terminal. */
export function formatAnswered(answered: Answered, { width, times = 1 }: LineOptions): readonly string[] {
  const room = width === undefined ? Infinity : Math.max(40, width) - margin.length
  const tail = tailOf(answered, times)
  const end = `  ${answered.status}  ${formatMs(answered.ms).padStart(7)}`
  // Narrow enough for "no token; scope todo is needed" in 80 columns.
  const column = Math.max(12, Math.min(36, Math.floor(((width ?? 96) - 48) / 2)))
  const path = shorten(hideSecretsInUrl(answered.path), room - 7 - end.length)
  const start = `${answered.method.padEnd(6)} ${path.padEnd(column)}${end}`
  if (tail === '') return [start]
  const line = `${start}   ${tail}`
  if (line.length <= room) return [line]
  // A misaligned line is better than two lines.
  const narrow = `${answered.method.padEnd(6)} ${path}${end}   ${tail}`
  return narrow.length <= room ? [narrow] : [start, margin + shorten(tail, room)]
}

const abortWords = {
  failed: 'response aborted',
  left: 'client disconnected',
  cut: 'stream ended, clients reconnect',
}

function tailOf({ user, status, id, reason, aborted }: Answered, times: number): string {
  const parts = [
    aborted && abortWords[aborted],
    user === undefined ? undefined : toPrintable(user),
    reason === undefined ? undefined : hideTokens(toPrintable(reason)),
    status >= 500 || aborted === 'failed' ? `request ${id}` : undefined,
    times > 1 ? `×${times}` : undefined,
  ]
  return parts.filter((part) => part !== undefined).join('   ')
}

/** Formats a log entry of an action. */
export function formatLogged({ level, message, cronjob, fields }: Logged): string {
  const word = (level === 'info' ? 'log' : level).padEnd(6)
  const colour = level === 'warn' ? 'yellow' : 'red'
  const parts = [
    cronjob && `cron ${cronjob}`,
    toPrintable(message),
    Object.keys(fields).length === 0 ? '' : toPrintable(JSON.stringify(fields)),
  ]
  const isLoud = level === 'warn' || level === 'error' || level === 'fatal'
  return `${isLoud ? paint(colour, word) : word} ${hideTokens(parts.filter(Boolean).join('   '))}`
}

export function formatMs(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${ms.toFixed(0)} ms`
}

export function nameFiles(files: readonly string[]): string {
  if (files.length === 0) return 'the project'
  return files.length <= 2 ? files.join(', ') : `${files[0]} and ${files.length - 1} more`
}

/** Describes an error for developers, with only the project's part of the stack. */
export function describeFailure(error: unknown): string {
  if (!isWaypostError(error)) return stackOf(error)
  return error.hint === undefined ? error.message : `${error.message}\n  ${error.hint}`
}

/** Returns the project's part of the stack. The callers of an action are not useful to its author. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return messageOf(error)
  const [first = '', ...frames] = splitStack(error)
  const own = frames
    .filter((frame) => frame.includes('waypost:///'))
    .map((frame) => frame.replaceAll('waypost:///', '').trim())
  const shown = own.length > 0 ? own : frames.slice(0, 3).map((frame) => frame.trim())
  const cause = error.cause === undefined ? [] : [`caused by ${stackOf(error.cause)}`]
  const { statement } = error as { readonly statement?: unknown }
  const database = typeof statement === 'string' ? [`  statement: ${toPrintable(statement)}`] : []
  return [first, ...database, ...shown.map((frame) => `  ${frame}`), ...cause].join('\n')
}

/** The message may have several lines, all before the first frame. */
function splitStack({ stack, message }: Error): string[] {
  const lines = (stack ?? message).split('\n')
  const start = lines.findIndex((line) => /^\s+at /.test(line))
  return start === -1 ? [lines.join('\n')] : [lines.slice(0, start).join('\n'), ...lines.slice(start)]
}

/** Keeps the beginning and the end, which are both useful in a path. */
function shorten(text: string, room: number): string {
  if (text.length <= room) return text
  const end = Math.floor(room / 4)
  return `${text.slice(0, room - end - 1)}…${text.slice(text.length - end)}`
}
