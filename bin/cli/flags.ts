import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { custom, integer, boolean, string } from '@oclif/core/flags'
import { parseSince, type Since, parseDuration } from '../../src/kit/index.ts'
import type { SubscriptionChoice } from '../../src/operate/index.ts'
import { userInfo } from 'node:os'

/** A flag that names the release that has to be the active one. A variable of a pipeline that is empty names none. */
export const againstFlag = custom({
  description: 'Fail unless this release is active: first characters of its id, or none',
  helpValue: '<id>',
  env: 'WAYPOST_AGAINST',
  parse: async (text) => {
    if (/^(?:[0-9a-f]{6,64}|none)$/.test(text)) return text
    throw new Error(
      `"${text}" is not a release id. Write at least its first 6 characters, or none if no release is active.`,
    )
  },
})()

/** How many entries a list shows at most. */
export const limitFlag = integer({ description: 'Maximum number of entries', default: 500, min: 1, max: 10_000 })

/** A flag that takes names separated by commas. */
export const listFlag = custom<string[]>({
  parse: async (text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
})

/** Flags that the commands of the topic `migrate` share. */
export const migrationFlags = {
  connection: string({
    description: 'The connection, if several have migrations',
    env: 'WAYPOST_CONNECTION',
  }),
  yes: boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  /** A migration by its name, as which the name of its file is taken too. */
  to: custom({ parse: async (text) => text.replace(/^.*\//, '').replace(/\.ts$/, '') }),
}

/** A flag that takes a moment of the past. */
export const sinceFlag = custom<Since>({
  parse: async (text) => {
    const since = parseSince(text)
    if (since !== undefined) return since
    throw new Error(`"${text}" is not a valid time. Write how long ago, such as 24h, or 2026-11-20T14:00:00Z.`)
  },
})

const longestMs = 3_600_000

/** A flag that says how long to wait for servers, in milliseconds. */
export const waitFlag = custom<number>({
  description: 'Time to wait until all servers serve it; 0 to not wait',
  default: 30_000,
  defaultHelp: async () => '30s',
  helpValue: '<duration>',
  env: 'WAYPOST_WAIT',
  parse: async (text) => {
    const ms = text === '0' ? 0 : parseDuration(text)
    if (ms !== undefined && ms <= longestMs) return ms
    throw new Error(`"${text}" is not a valid time. Write 30s or 2m, at most 1h, or 0 to not wait.`)
  },
})()

/** Words in which a flag may stand without its value, which oclif does not know: `--inspect` or `--inspect=9230`. */
export function withDefault(words: readonly string[], flag: string, value: number): string[] {
  const end = words.indexOf('--')
  return words.map((word, index) => (word === flag && (end === -1 || index < end) ? `${flag}=${value}` : word))
}

/** What says which subscriptions a command changes. */
export const subscriptionChoice = {
  args: { id: Args.string({ description: 'Id of one subscription' }) },
  flags: {
    user: Flags.string({ description: 'All subscriptions of this user, by name or id' }),
    client: Flags.string({ description: 'All subscriptions created by this client, by id or name' }),
  },
}

/** Whether it says which: an id alone, or a user, a client or both. */
export function isChoice({ id, user, client }: SubscriptionChoice): boolean {
  return (id !== undefined) !== (user !== undefined || client !== undefined)
}

/** Who runs this command. In a container the user of a pipeline may have no name. */
export function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
