import { custom } from '@oclif/core/flags'

/** A flag that names the release that has to be the active one. A variable of a pipeline that is empty names none. */
export const againstFlag = custom({
  description: 'Only if this release is the active one: the beginning of its id, or none',
  helpValue: '<id>',
  env: 'WAYPOST_AGAINST',
  parse: async (text) => {
    if (/^(?:[0-9a-f]{6,64}|none)$/.test(text)) return text
    throw new Error(`"${text}" is no release. Write at least 6 characters of its id, or none where nothing is active.`)
  },
})()
