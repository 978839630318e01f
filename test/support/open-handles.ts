// Loaded into every process of tests by bin/test.ts: when its tests are over it must end. One that does not has left
// something open, and would keep the run waiting for ever; it fails and says what is open.
import { after } from 'node:test'

const graceMs = 60_000

// The runner itself loads this too; only the processes of tests have this variable.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  after(() => {
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ')
      process.stderr.write(`Left open after the last test: ${open}. With --slowest each file has its own process.\n`)
      process.exit(1)
    }, graceMs).unref()
  })
}
