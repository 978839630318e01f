// Loaded by node before the command line: kills the process at a statement of its work on events. Nothing is cleaned up,
// flushed or closed: the process is gone.
import { readEnvironment, variable } from '../../src/kit/index.ts'
import { watchStatements } from './watch-statements.ts'

const variables = readEnvironment()
/** The number of the point at which it dies: before a statement that writes, or behind a commit. */
let left = Number(variable(variables, 'DIE_AT'))
/** Whether those that only read count too, and those that were passed before. */
const isEach = variable(variables, 'DIE_EACH') === '1'
const passed = new Set<string>()
let commits = 0

function isPoint(sql: string): boolean {
  if (sql.toLowerCase() === 'commit') return (commits += 1) <= 6 || isEach // before and behind those of one message
  if (isEach) return /waypost_(message|delivery|attempt)/.test(sql)
  if (passed.has(sql)) return false
  passed.add(sql)
  return /(insert into|update) "?waypost_(message|delivery|attempt)/.test(sql)
}

watchStatements((sql) => {
  if (!isPoint(sql)) return
  left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
})
