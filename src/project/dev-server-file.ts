import { readFileSync, rmSync, unwatchFile, watchFile, type StatsListener } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { probeAgent } from '../kit/index.ts'

/** A `dev` that runs. */
export interface RunningDev {
  readonly url: string
  readonly pid: number
}

const longestMs = 1000

function fileOf(folder: string): string {
  return path.join(folder, '.waypost', 'server.json')
}

/** The `dev` that serves the project of a folder now. What one left that did not end in order counts as none. */
export async function findRunningDev(folder: string): Promise<RunningDev | undefined> {
  const kept = readKept(folder)
  return kept !== undefined && isAlive(kept.pid) && (await answers(kept.url)) ? kept : undefined
}

/** Lets others know of this process. @returns the way to take that back */
export async function announceDev(folder: string, url: string): Promise<() => void> {
  const file = fileOf(folder)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify({ url, pid: process.pid })}\n`)
  return () => {
    // A second one may have written its own.
    if (readKept(folder)?.pid === process.pid) rmSync(file, { force: true })
  }
}

function readKept(folder: string): RunningDev | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(fileOf(folder), 'utf8')) as Partial<RunningDev>
    return typeof url === 'string' && Number.isSafeInteger(pid) ? { url, pid: pid! } : undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The id of a process that ended may be another one's by now. */
async function answers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/health/live`, {
      headers: { 'user-agent': probeAgent },
      signal: AbortSignal.timeout(longestMs),
    })
    await answer.body?.cancel()
    return answer.ok
  } catch {
    return false
  }
}

const pollMs = 250

function migratedFile(folder: string): string {
  return path.join(folder, '.waypost', 'migrated')
}

/** Tells a `dev` of this folder that migrations were taken back or done again. */
export async function tellMigrated(folder: string): Promise<void> {
  await mkdir(path.dirname(migratedFile(folder)), { recursive: true })
  await writeFile(migratedFile(folder), `${new Date().toISOString()}\n`)
}

/** Follows what `tellMigrated` says. @returns the way to stop */
export function followMigrated(folder: string, onMigrated: () => void): () => void {
  const file = migratedFile(folder)
  const onChange: StatsListener = (now, before) => {
    if (now.mtimeMs > before.mtimeMs) onMigrated() // a file that is not there is reported too
  }
  watchFile(file, { interval: pollMs, persistent: false }, onChange)
  return () => unwatchFile(file, onChange)
}
