import { custom } from '@oclif/core/flags'
import { parseSince, type Since } from '../../src/kit/index.ts'

/** A flag that takes a moment of the past. */
export const sinceFlag = custom<Since>({
  parse: async (text) => {
    const since = parseSince(text)
    if (since !== undefined) return since
    throw new Error(`"${text}" is no time. Write how long ago, as in 24h, or 2026-11-20T14:00:00Z.`)
  },
})
