// The furniture of the command line: what every command is made of, and the launcher that finds and runs one.
// May import kit and @oclif/core, by its subpaths: the whole of it takes twice as long to load.
export * as Args from '@oclif/core/args'
export * as Flags from '@oclif/core/flags'
export { WaypostCommand } from './base-command.ts'
export { confirm } from './confirm.ts'
export { DevConsole } from './dev-console.ts'
export { listFlag } from './list-flag.ts'
export { paint } from './paint.ts'
export { plural } from './plural.ts'
export { printDiagnostics } from './print-diagnostics.ts'
export { readSecret } from './read-secret.ts'
export { wrap } from './wrap.ts'
