// Loaded into every test file by bin/test.ts: a file whose tests are over must end. One that does not has left
// something open, and would keep the run waiting for ever; it fails and says what is open.
import { after } from 'node:test'

const graceMs = 60_000

// The runner itself loads this too; only the processes of the files have this variable.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  after(() => {
    setTimeout(() => {
      process.stderr.write(`Left open after the last test: ${process.getActiveResourcesInfo().join(', ')}\n`)
      process.exit(1)
    }, graceMs).unref()
  })
}
