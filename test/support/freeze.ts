import { execFileSync } from 'node:child_process'
import type { System } from '../../src/store/index.ts'
import { until } from './until.ts'

/**
 * Stops a process (SIGSTOP). Meanwhile this process holds the lock of SQLite, so that the stopped one does not: it would
 * keep the lock, and no one could write.
 */
export async function freeze(system: System, pid: number): Promise<void> {
  await system.transaction(async (trx) => {
    await trx.updateTable('waypost_delivery').set({ lost: 0 }).where('id', '=', 'no such delivery').execute()
    process.kill(pid, 'SIGSTOP')
    await until('the process is stopped', () => isFrozen(pid))
  })
}

export function isFrozen(pid: number): boolean {
  return execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('T')
}
