// Loaded into each test process by bin/test.ts: the process must end after its tests. Otherwise something was left open
// that would block the run; the process then fails and reports it.
import { after } from 'node:test'

const graceMs = 60_000

// The runner itself loads this too, but only test processes have this variable.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  after(() => {
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ')
      process.stderr.write(`Left open after the last test: ${open}. Run the files of this process one by one.\n`)
      process.exit(1)
    }, graceMs).unref()
  })
}
