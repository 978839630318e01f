import { custom } from '@oclif/core/flags'

/** A flag that takes names separated by commas. */
export const listFlag = custom<string[]>({
  parse: async (text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
})
