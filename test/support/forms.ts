import { describe, test, type TestContext } from 'node:test'
import { readEnvironment, variable } from '../../src/kit/index.ts'

/** With `WAYPOST_TEST_LONG=1` all tests run. CI omits those that others cover too. */
export const isLong = variable(readEnvironment(), 'WAYPOST_TEST_LONG') === '1'

const skip = !isLong && 'long form'

/** Declares a test that CI omits, because others cover nearly the same. A comment names them. */
export function longTest(name: string, run: (t: TestContext) => Promise<void>): void {
  void test(name, { skip }, run)
}

/** Declares a suite that CI omits, with its hooks, because others cover nearly the same. A comment names them. */
export function longDescribe(name: string, declare: () => void): void {
  void describe(name, { skip }, declare)
}

/** A database of System. */
export type Kind = 'sqlite' | 'postgresql'

export const bothKinds: readonly Kind[] = ['sqlite', 'postgresql']

/**
 * Returns both databases in the long form, otherwise one of them. Choose PostgreSQL for tests whose queries, locks or
 * transactions matter, and SQLite, which takes less than half of the CPU time, for tests that would be the same without
 * a database.
 */
export function chooseKinds(short: Kind): readonly Kind[] {
  return isLong ? bothKinds : [short]
}

/** Databases of tests of HTTP requests. Outside the long form PostgreSQL: the tests of pages run the same queries on SQLite. */
export const defaultKinds = chooseKinds('postgresql')
