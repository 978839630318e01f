import { isWaypostError, messageOf, toPrintable } from '../../src/kit/index.ts'
import type { DevConsole } from '../../src/project/index.ts'
import { paint } from './format.ts'

type Answered = Parameters<DevConsole['answered']>[0]
type Logged = Parameters<DevConsole['logged']>[0]

export interface LineOptions {
  /** Columns of the terminal; undefined cuts nothing. */
  readonly width: number | undefined
  /** How often the same request was answered the same way, one after the other. */
  readonly times?: number
}

/** As wide as the time in front of a line. */
export const margin: string = ' '.repeat(10)

/** One request: in one line, or in two where its reason has no place on a narrow terminal. */
export function formatAnswered(answered: Answered, { width, times = 1 }: LineOptions): readonly string[] {
  const room = width === undefined ? Infinity : Math.max(40, width) - margin.length
  const tail = tailOf(answered, times)
  const end = `  ${answered.status}  ${formatMs(answered.ms).padStart(7)}`
  // Narrow enough for "no token; scope todo is needed" in 80 columns.
  const column = Math.max(12, Math.min(36, Math.floor(((width ?? 96) - 48) / 2)))
  const path = shorten(hideSecrets(answered.path), room - 7 - end.length)
  const start = `${answered.method.padEnd(6)} ${path.padEnd(column)}${end}`
  if (tail === '') return [start]
  const line = `${start}   ${tail}`
  if (line.length <= room) return [line]
  // Out of its column rather than in a line of its own.
  const narrow = `${answered.method.padEnd(6)} ${path}${end}   ${tail}`
  return narrow.length <= room ? [narrow] : [start, margin + shorten(tail, room)]
}

const abortWords = { failed: 'response aborted', left: 'client disconnected' }

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

/** One line that an action wrote to its log. */
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

export function listFiles(files: readonly string[]): string {
  if (files.length === 0) return 'the project'
  return files.length <= 2 ? files.join(', ') : `${files[0]} and ${files.length - 1} more`
}

/** What went wrong, in the words for who develops: of a stack only what is the project's. */
export function describeFailure(error: unknown): string {
  if (!isWaypostError(error)) return stackOf(error)
  return error.hint === undefined ? error.message : `${error.message}\n  ${error.hint}`
}

/** The stack as far as it is the project's: what runs below it is of no use to who wrote the action. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return messageOf(error)
  const [first = '', ...frames] = splitStack(error)
  const own = frames
    .filter((frame) => frame.includes('waypost:///'))
    .map((frame) => frame.replaceAll('waypost:///', '').trim())
  const shown = own.length > 0 ? own : frames.slice(0, 3).map((frame) => frame.trim())
  const cause = error.cause === undefined ? [] : [`caused by ${stackOf(error.cause)}`]
  const { statement } = error as { readonly statement?: unknown }
  const told = typeof statement === 'string' ? [`  statement: ${toPrintable(statement)}`] : []
  return [first, ...told, ...shown.map((frame) => `  ${frame}`), ...cause].join('\n')
}

/** A message may have several lines; all of them stand before the first frame. */
function splitStack({ stack, message }: Error): string[] {
  const lines = (stack ?? message).split('\n')
  const start = lines.findIndex((line) => /^\s+at /.test(line))
  return start === -1 ? [lines.join('\n')] : [lines.slice(0, start).join('\n'), ...lines.slice(start)]
}

/** A path and query that a caller sent, without values that may be secret and without what would move a cursor. */
export function hideSecrets(url: string): string {
  const [path = '', ...queries] = url
    .slice(0, longestUrl)
    .replaceAll(/[^\x20-\x7E]/g, '?')
    .split('?')
  if (queries.length === 0) return hideTokens(path)
  const pairs = queries.join('?').split('&')
  return `${hideTokens(path)}?${pairs.map((pair) => (isSecret(pair) ? pair.replace(/=.*/, '=…') : hideTokens(pair))).join('&')}`
}

const longestUrl = 2000
const secretName = /^(?:code|state)$/
const secretWord =
  /(?:token|secret|password|passwd|passphrase)$|^(?:pass|pw|pwd|auth|authorization|jwt|otp|sig|signature|assertion|verifier|credentials?|sess(?:ion)?(?:id)?|(?:api|access|auth|private|secret)?key)$/

function isSecret(pair: string): boolean {
  const name = pair.split('=')[0]!
  return isSecretName(name.includes('%') ? decodeName(name) : name)
}

/** Whole words of a name count, however they are joined: `apiKey` and `api_key`, but neither `monkey` nor `author`. */
function isSecretName(name: string): boolean {
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  return secretName.test(name.toLowerCase()) || words.some((word) => secretWord.test(word.toLowerCase()))
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** What is a token by its looks, wherever it stands. */
function hideTokens(text: string): string {
  return text.replaceAll(/\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)*|\bwhsec_[\w+/=]+/g, '…')
}

/** The beginning and the end: of a path both tell something. */
function shorten(text: string, room: number): string {
  if (text.length <= room) return text
  const end = Math.floor(room / 4)
  return `${text.slice(0, room - end - 1)}…${text.slice(text.length - end)}`
}
