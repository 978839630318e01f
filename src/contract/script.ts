import type { Context } from './action.ts'

/**
 * Fills a new database: the default export of a file in `seeds/`. It runs once per System, in a transaction of System. It
 * has no caller, and `dispatch` sends events only with `--events`.
 */
export type Seed = (context: Context<'cronjob'>) => unknown

/**
 * What `waypost run` runs: the default export of a file. `args` are the arguments after the file. A class with `handle`,
 * as for a cronjob, reads them from `request.params.args`.
 */
export type Script = (context: Context<'cronjob'>, args: readonly string[]) => unknown
