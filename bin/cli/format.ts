import { styleText } from 'node:util'
import {
  findPackageManager,
  readEnvironment,
  shortId,
  spellCommands,
  variable,
  type Variables,
} from '../../src/kit/index.ts'

/** The only colours in Waypost's output: `red` for "error", `yellow` for "warning", `cyan` for commands to copy. */
export type Colour = 'red' | 'yellow' | 'green' | 'cyan' | 'dim' | 'bold'

/**
 * Returns text in a colour, or unchanged if the stream does not support colours: no terminal, `NO_COLOR`, `TERM=dumb`,
 * `--no-color`.
 */
export function paint(colour: Colour, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return hasColour(stream) ? styleText(colour, text, { validateStream: false }) : text
}

/** Pipelines display colours but have no terminal. */
function isForced(variables: Variables): boolean {
  const forced = variable(variables, 'FORCE_COLOR')
  return forced !== undefined && !['0', 'false'].includes(forced) && variable(variables, 'NO_COLOR') === undefined
}

export function hasColour(stream: NodeJS.WriteStream): boolean {
  if (process.argv.includes('--no-color')) return false
  return stream.isTTY ? stream.hasColors() : isForced(readEnvironment())
}

/** Returns a text whose commands for npm are those of the package manager of the working directory. */
export function spellForFolder(text: string): string {
  if (!/\bnp[mx]\b/.test(text)) return text
  return spellCommands(text, findPackageManager(process.cwd(), variable(readEnvironment(), 'npm_config_user_agent')))
}

/** Shortens a Git commit for display: `1a2b3c4d`, or `1a2b3c4d-dirty` if files had been changed since. */
export function shortenCommit(commit: string): string {
  const [id = '', mark] = commit.split('-')
  return mark === undefined ? shortId(id) : `${shortId(id)}-${mark}`
}

/** Returns a count with its noun: `1 route`, `2 routes`, `3 deliveries`. */
export function plural(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`
  return `${count} ${/[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`}`
}

const units = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** Formats a duration in the largest unit that gives at least two: `45 s`, `59 min`, `23 h`, `12 days`. */
export function formatSpan(ms: number): string {
  const [unit, size] = units.find(([, length]) => ms >= 2 * length) ?? (['s', 1000] as const)
  const count = Math.max(0, Math.floor(ms / size))
  return `${count} ${unit}${unit === 'day' && count !== 1 ? 's' : ''}`
}

/** The least share of a unit that counts as a whole one, so that a time of four hours is not "3 h" a moment later. */
const almost = 0.95

/** Formats the time until something: `in 4 h`. */
export function formatWait(ms: number): string {
  const size = units.find(([, length]) => ms >= (1 + almost) * length)?.[1] ?? 1000
  return `in ${formatSpan(ms + (1 - almost) * size)}`
}

/** Formats a UTC date: `2026-11-21`. */
export function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

export interface Ended {
  readonly tokens: number
  readonly sessions: number
  readonly subscriptions?: number
  readonly clients?: number
}

/** Describes how much access was revoked: `2 valid tokens, 1 session`. */
export function describeEnded({ tokens, sessions, subscriptions = 0, clients = 0 }: Ended): string {
  const others = [
    [sessions, 'session'],
    [clients, 'client'],
    [subscriptions, 'subscription'],
  ] as const
  const counted = others.filter(([count]) => count > 0).map(([count, what]) => plural(count, what))
  return [plural(tokens, 'valid token'), ...counted].join(', ')
}
