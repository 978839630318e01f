import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { makeUuid } from './ids.ts'

/** Identifies a process. */
export interface ProcessIdentity {
  /** Its machine since it started, and the namespace of its processes. */
  readonly place: string
  readonly pid: number
  /** When it started, in ticks since the machine started. */
  readonly started: string
}

let known: ProcessIdentity | undefined

/** Identifies this process. Without Linux's `/proc`, the place is unique, so that no other process can see its end. */
export function identifyProcess(): ProcessIdentity {
  known ??= { place: findPlace() ?? makeUuid(), pid: process.pid, started: findStart(process.pid) ?? '' }
  return known
}

/** Whether a process of this place has ended. */
export function hasEnded({ place, pid, started }: ProcessIdentity): boolean {
  if (place !== identifyProcess().place) return false
  const found = findStart(pid)
  return found === undefined ? !isRunning(pid) : found !== started
}

/** Whether a process has this id. Also finds processes of other users if `/proc` hides them. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function findPlace(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${hostname()} ${boot} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return undefined
  }
}

/** Returns when a process started, or that it has ended; undefined if that cannot be read. */
function findStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? 'ended' : fields[19] // a zombie has ended
  } catch {
    return undefined
  }
}
