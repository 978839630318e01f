// Loaded by node before the command line: kills the process at a statement of its work on events. Nothing is cleaned up,
// flushed or closed: the process is gone.
import { readEnvironment, variable } from '../../src/kit/index.ts'
import { watchStatements } from './watch-statements.ts'

const variables = readEnvironment()
/** The number of the point at which it dies: before a statement, or behind a commit. */
let left = Number(variable(variables, 'DIE_AT'))
/** Whether a statement that was passed once counts again. */
const isEach = variable(variables, 'DIE_EACH') === '1'
const passed = new Set<string>()
let commits = 0

watchStatements((sql) => {
  const isCommit = sql.toLowerCase() === 'commit'
  if (!isCommit && !/waypost_(message|delivery|attempt)/.test(sql)) return
  // Of fan-out, claim and completion: before and behind it.
  if (isCommit ? (commits += 1) > 6 && !isEach : passed.has(sql) && !isEach) return
  passed.add(sql)
  left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
})
