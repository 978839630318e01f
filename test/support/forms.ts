import { readEnvironment, variable } from '../../src/kit/index.ts'

/** By hand, with `WAYPOST_TEST_LONG=1`, everything runs; CI has to be short, and leaves out what others show too. */
export const isLong = variable(readEnvironment(), 'WAYPOST_TEST_LONG') === '1'

/** Databases under commands and servers whose work is tested on both elsewhere. */
export const commandKinds: readonly ('sqlite' | 'postgresql')[] = isLong ? ['sqlite', 'postgresql'] : ['postgresql']
