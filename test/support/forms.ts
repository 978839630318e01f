import { readEnvironment, variable } from '../../src/kit/index.ts'

/** With `WAYPOST_TEST_LONG=1` all tests run. CI omits those that others cover too. */
export const isLong = variable(readEnvironment(), 'WAYPOST_TEST_LONG') === '1'

/**
 * Databases of tests of HTTP requests and of commands. Outside the long form PostgreSQL, because the tests of pages run
 * the same queries on SQLite.
 */
export const defaultKinds: readonly ('sqlite' | 'postgresql')[] = isLong ? ['sqlite', 'postgresql'] : ['postgresql']
