// Loaded by node before the command line: kills the process at a statement of its activation. Nothing is cleaned up,
// flushed or closed: the process is gone.
import { readEnvironment, variable } from '../../src/kit/index.ts'
import { watchStatements } from './watch-statements.ts'

/** The number of the point at which it dies: before a statement that writes, before the commit, or behind it. */
let left = Number(variable(readEnvironment(), 'DIE_AT'))
let isActivating = false

function isPoint(sql: string): boolean {
  isActivating ||= /from "waypost_active" for update/.test(sql)
  return isActivating && /^(insert|update|delete|with|select pg_notify|commit)/i.test(sql)
}

watchStatements((sql) => {
  if (isPoint(sql)) left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
})
