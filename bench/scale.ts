import path from 'node:path'

const variable = 'WAYPOST_BENCH_TINY'

/** With `--tiny` each part runs once with few things, which shows that it works. Its figures mean nothing. */
export const isTiny: boolean = process.argv.includes('--tiny') || process.env[variable] === '1'
if (isTiny) {
  process.env[variable] = '1' // for child processes
  process.env['NODE_COMPILE_CACHE'] ??= path.join(import.meta.dirname, '../node_modules/.cache/node-compile-cache')
}

/** Returns a number of rounds, things or milliseconds, or another one with `--tiny`. */
export function scaled(usual: number, tiny = 1): number {
  return isTiny ? tiny : usual
}
