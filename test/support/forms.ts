import { readEnvironment, variable } from '../../src/kit/index.ts'

/** With `WAYPOST_TEST_LONG=1` all tests run. CI omits those that others cover too. */
export const isLong = variable(readEnvironment(), 'WAYPOST_TEST_LONG') === '1'

/** Databases of tests whose queries other tests run on both: tables of HTTP requests, sequences of commands. */
export const defaultKinds: readonly ('sqlite' | 'postgresql')[] = isLong ? ['sqlite', 'postgresql'] : ['postgresql']
