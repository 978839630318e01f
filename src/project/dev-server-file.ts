import { readFileSync, rmSync, unwatchFile, watchFile, type StatsListener } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isRunning, probeAgent } from '../kit/index.ts'

/** A running `dev`. */
export interface RunningDev {
  readonly url: string
  readonly pid: number
}

const timeoutMs = 5000

function fileOf(folder: string): string {
  return path.join(folder, '.waypost', 'server.json')
}

/**
 * Returns the `dev` that currently serves the project of a folder. The file of a process that was killed is ignored.
 */
export async function findRunningDev(folder: string): Promise<RunningDev | undefined> {
  const stored = readRunning(folder)
  return stored !== undefined && isRunning(stored.pid) && (await responds(stored.url)) ? stored : undefined
}

/**
 * Publishes the URL of this process.
 * @returns a function that removes it
 */
export async function announceDev(folder: string, url: string): Promise<() => void> {
  const file = fileOf(folder)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify({ url, pid: process.pid })}\n`)
  return () => {
    // Another `dev` may have replaced it.
    if (readRunning(folder)?.pid === process.pid) rmSync(file, { force: true })
  }
}

function readRunning(folder: string): RunningDev | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(fileOf(folder), 'utf8')) as Partial<RunningDev>
    return typeof url === 'string' && Number.isSafeInteger(pid) ? { url, pid: pid! } : undefined
  } catch {
    return undefined
  }
}

/** The id of an ended process may have been reused. */
async function responds(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health/live`, {
      headers: { 'user-agent': probeAgent },
      signal: AbortSignal.timeout(timeoutMs),
    })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}

const pollMs = 250

function migratedFile(folder: string): string {
  return path.join(folder, '.waypost', 'migrated')
}

/** Notifies a `dev` of this folder that migrations were reverted or reapplied. */
export async function notifyMigrated(folder: string): Promise<void> {
  await mkdir(path.dirname(migratedFile(folder)), { recursive: true })
  await writeFile(migratedFile(folder), `${new Date().toISOString()}\n`)
}

/**
 * Calls `onMigrated` after each `notifyMigrated`.
 * @returns a function that stops it
 */
export function watchMigrated(folder: string, onMigrated: () => void): () => void {
  const file = migratedFile(folder)
  const onChange: StatsListener = (now, before) => {
    if (now.mtimeMs > before.mtimeMs) onMigrated() // a missing file is reported too
  }
  watchFile(file, { interval: pollMs, persistent: false }, onChange)
  return () => unwatchFile(file, onChange)
}
