// Loaded by node before the command line: sends a signal to its own process at a statement of its work on events. SIGKILL
// ends it with nothing cleaned up, flushed or closed; SIGSTOP freezes it.
import { writeSync } from 'node:fs'
import { readEnvironment, variable } from '../../src/kit/index.ts'
import { watchStatements } from './watch-statements.ts'

const variables = readEnvironment()
const signal = variable(variables, 'SIGNAL') ?? 'SIGKILL'
/** The number of the point at which it happens: before a statement that writes, or before or behind a commit. */
let left = Number(variable(variables, 'AT'))
/** Whether statements that only read count too, and those that were passed before. */
const isEach = variable(variables, 'AT_EACH') === '1'
/** Instead of a number: before the statement that comes behind the first one that matches. */
const after = variable(variables, 'AFTER')
const tables = 'waypost_(message|delivery|attempt|subscription|worker|lane)'
const [uses, writes] = [new RegExp(tables), new RegExp(`(insert into|update|delete from) "?${tables}`)]
const passed = new Set<string>()
let commits = 0

function isPoint(sql: string): boolean {
  if (sql.toLowerCase() === 'commit') return (commits += 1) <= 6 || isEach // before and behind those of one message
  if (isEach) return uses.test(sql)
  if (passed.has(sql)) return false
  passed.add(sql)
  return writes.test(sql)
}

function countDown(sql: string): void {
  if (after === undefined) left -= isPoint(sql) ? 1 : 0
  else if (left === 1) left = 0
  else if (Number.isNaN(left) && new RegExp(after).test(sql)) left = 1
  if (left !== 0) return
  left = Infinity
  if (signal === 'SIGSTOP') writeSync(2, 'frozen\n')
  process.kill(process.pid, signal)
}

watchStatements(countDown)
