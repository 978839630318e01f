import { readEnvironment, variable } from '../../src/kit/index.ts'

/** By hand, with `WAYPOST_TEST_LONG=1`, everything runs; CI has to be short, and leaves out what others show too. */
export const isLong = variable(readEnvironment(), 'WAYPOST_TEST_LONG') === '1'

/** Databases of tests whose queries other tests run on both: tables of HTTP requests, stories told by commands. */
export const usualKinds: readonly ('sqlite' | 'postgresql')[] = isLong ? ['sqlite', 'postgresql'] : ['postgresql']
