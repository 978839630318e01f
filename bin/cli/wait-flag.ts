import { custom } from '@oclif/core/flags'
import { parseDuration } from '../../src/kit/index.ts'

const longestMs = 3_600_000

/** A flag that says how long to wait for servers, in milliseconds. */
export const waitFlag = custom<number>({
  description: 'How long to wait until every server serves it; 0 does not wait',
  default: 30_000,
  defaultHelp: async () => '30s',
  helpValue: '<duration>',
  env: 'WAYPOST_WAIT',
  parse: async (text) => {
    const ms = text === '0' ? 0 : parseDuration(text)
    if (ms !== undefined && ms <= longestMs) return ms
    throw new Error(`"${text}" is no time to wait. Write 30s or 2m, at most 1h; 0 does not wait.`)
  },
})()
