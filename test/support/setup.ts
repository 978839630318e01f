// Loaded into every test file by bin/test.ts.
import { after } from 'node:test'

const graceMs = 60_000

// What fast-check calls configureGlobal, without loading it: the same values each time, so that a run fails for what was
// changed and not for its luck. The long form looks for other ones.
if (process.env['WAYPOST_TEST_LONG'] !== '1') {
  Object.assign(globalThis, { [Symbol.for('fast-check/GlobalParameters')]: { seed: 20_261_120 } })
}

// A file whose tests are over must end. One that does not has left something open, and would keep the run waiting for
// ever; it fails and says what is open. The runner itself loads this too; only the processes of the files have this
// variable.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  after(() => {
    setTimeout(() => {
      process.stderr.write(`Left open after the last test: ${process.getActiveResourcesInfo().join(', ')}\n`)
      process.exit(1)
    }, graceMs).unref()
  })
}
