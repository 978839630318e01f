import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { custom, integer, boolean, string } from '@oclif/core/flags'
import { parseSince, type Since, parseDuration } from '../../src/kit/index.ts'
import type { DeliveryChoice, SubscriptionChoice } from '../../src/operate/index.ts'
import { userInfo } from 'node:os'

/** A flag for the release that must be active. An empty value, as from an unset pipeline variable, is ignored. */
export const againstFlag = custom({
  description: 'Fail unless this release is active: first characters of its id, or none',
  helpValue: '<id>',
  env: 'WAYPOST_AGAINST',
  parse: async (text) => {
    if (/^(?:[0-9a-f]{6,64}|none)$/.test(text)) return text
    throw new Error(
      `"${text}" is not a release id. Enter at least its first 6 characters, or none if no release is active.`,
    )
  },
})()

/** What happens to deliveries that wait in a System that may be a copy. */
export const deliveriesFlag = custom<DeliveryChoice>({
  description: 'Waiting deliveries: hold them until event:resume (the default), send them, or cancel them',
  options: ['send', 'hold', 'cancel'],
})

/** The maximum number of listed entries. */
export const limitFlag = integer({ description: 'Maximum number of entries', default: 500, min: 1, max: 10_000 })

/** A flag for comma-separated names. */
export const listFlag = custom<string[]>({
  parse: async (text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
})

/** Flags of all commands of the topic `migrate`. */
export const migrationFlags = {
  connection: string({
    description: 'The connection, if several have migrations',
    env: 'WAYPOST_CONNECTION',
  }),
  yes: boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  /** The name of a migration, or its file name. */
  to: custom({ parse: async (text) => text.replace(/^.*\//, '').replace(/\.(ts|yml)$/, '') }),
}

/** A flag for a time in the past. */
export const sinceFlag = custom<Since>({
  parse: async (text) => {
    const since = parseSince(text)
    if (since !== undefined) return since
    throw new Error(`"${text}" is not a valid time. Write how long ago, such as 24h, or 2026-11-20T14:00:00Z.`)
  },
})

const maxWaitMs = 3_600_000

/** A flag for how long to wait for servers, in milliseconds. */
export const waitFlag = custom<number>({
  description: 'Maximum time to wait until all servers serve the release; 0 disables waiting',
  default: 30_000,
  defaultHelp: async () => '30s',
  helpValue: '<duration>',
  env: 'WAYPOST_WAIT',
  parse: async (text) => {
    const ms = text === '0' ? 0 : parseDuration(text)
    if (ms !== undefined && ms <= maxWaitMs) return ms
    throw new Error(`"${text}" is not a valid time. Write 30s or 2m (at most 1h), or 0 to disable waiting.`)
  },
})()

/**
 * Adds the default value of a flag whose value is optional, which oclif does not support: `--inspect` or
 * `--inspect=9230`.
 */
export function withDefault(words: readonly string[], flag: string, value: number): string[] {
  const end = words.indexOf('--')
  return words.map((word, index) => (word === flag && (end === -1 || index < end) ? `${flag}=${value}` : word))
}

/** The arguments and flags that select subscriptions. */
export const subscriptionChoice = {
  args: { id: Args.string({ description: 'Id of one subscription' }) },
  flags: {
    user: Flags.string({ description: 'All subscriptions of this user, by name or id' }),
    client: Flags.string({ description: 'All subscriptions created by this client, by id or name' }),
  },
}

/** Whether the selection is valid: only an id, or a user, a client or both. */
export function isChoice({ id, user, client }: SubscriptionChoice): boolean {
  return (id !== undefined) !== (user !== undefined || client !== undefined)
}

/** Returns the name of the current user. In a container the user may have no name. */
export function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
