import type { SeedOptions } from '../../src/project/index.ts'
import { describeFailure, formatLogged } from './dev-lines.ts'

/** Prints what scripts log to stderr: stdout is theirs. */
export const scriptConsole: SeedOptions['console'] = {
  logged(line) {
    process.stderr.write(`  ${formatLogged(line)}\n`)
    if (line.error !== undefined) process.stderr.write(`${describeFailure(line.error).replaceAll(/^/gm, '    ')}\n`)
  },
}
