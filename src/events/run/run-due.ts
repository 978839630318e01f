import { setTimeout as pause } from 'node:timers/promises'
import type { Clock, Settings } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { Member } from '../lanes/member.ts'
import type { EventCatalog } from '../message/catalog.ts'
import { moveDelayed } from '../message/delayed.ts'
import { RunLoop, type RunOptions } from './run-loop.ts'

interface RunDueOptions extends RunOptions {
  readonly system: System
  readonly clock: Clock
  catalog(): EventCatalog
  settings(): Settings
}

const lookMs = 5

/** Runs what is due for listeners, and delivers nothing. @throws the first error of System */
export async function runDue(options: RunDueOptions): Promise<void> {
  const { system, clock, catalog } = options
  while ((await moveDelayed(system, catalog())) > 0);
  const member = new Member(system, clock, { usedLanes: () => new Set(), forgetQueued: () => undefined })
  member.isLeaving = true // takes no lanes
  await member.rebalance()
  const failures: unknown[] = []
  const loop = new RunLoop({
    ...options,
    worker: () => member.id,
    isQuiet: () => false,
    onFailure: (error) => void failures.push(error),
  })
  try {
    loop.start()
    while (!loop.isIdle && failures.length === 0) await pause(lookMs)
  } finally {
    await loop.stop()
    await member.leave()
  }
  if (failures.length > 0) throw failures[0]
}
