// Loaded into each test file by bin/test.ts --slowest: records how long the file took, and the CPU time of its process
// and its child processes.
import { appendFileSync, readFileSync } from 'node:fs'
import path from 'node:path'

const report = process.env['WAYPOST_TEST_REPORT']

/** Linux clock ticks per second. */
const ticks = 100

if (report !== undefined && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  process.once('exit', () => {
    const file = path.relative(process.cwd(), process.argv[1] ?? '')
    const [user, system, childUser, childSystem] = readTicks()
    const own = (user! + system!) / ticks
    const children = (childUser! + childSystem!) / ticks
    appendFileSync(report, `${JSON.stringify({ file, seconds: performance.now() / 1000, own, children })}\n`)
  })
}

/** Fields 14 to 17 of `/proc/self/stat` (proc_pid_stat(5)); zeros if the file does not exist. */
function readTicks(): number[] {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ')
    return fields.slice(11, 15).map(Number)
  } catch {
    return [0, 0, 0, 0]
  }
}
