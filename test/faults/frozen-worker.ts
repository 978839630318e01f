// Loaded by node before the command line: stops the process (SIGSTOP) before the statement that comes behind the first one
// that matches FREEZE_AFTER.
import { writeSync } from 'node:fs'
import { readEnvironment, variable } from '../../src/kit/index.ts'
import { watchStatements } from './watch-statements.ts'

const point = new RegExp(variable(readEnvironment(), 'FREEZE_AFTER')!)
let state: 'waiting' | 'next' | 'over' = 'waiting'

watchStatements((sql) => {
  if (state === 'next') {
    state = 'over'
    writeSync(2, 'frozen\n')
    process.kill(process.pid, 'SIGSTOP')
  } else if (state === 'waiting' && point.test(sql)) state = 'next'
})
