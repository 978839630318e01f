import { integer } from '@oclif/core/flags'

/** How many entries a list shows at most. */
export const limitFlag = integer({ description: 'How many to show at most', default: 500, min: 1, max: 10_000 })
