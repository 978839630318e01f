import type { Log } from '../contract/index.ts'

/** A log for commands, which say what they have to say themselves. */
export const quietLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}
