import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'

const timeoutMs = 5000

/**
 * Returns the Git commit of a folder, with `-dirty` if files in the folder were changed since; undefined if the folder is
 * in no repository, has no commit yet, or Git is not installed.
 */
export async function readCommit(folder: string): Promise<string | undefined> {
  if (!isInRepository(path.resolve(folder))) return undefined
  const status = await runGit(folder, ['status', '--porcelain=v2', '--branch', '--', '.'])
  const commit = /^# branch\.oid ([0-9a-f]{40,64})$/m.exec(status)?.[1]
  if (commit === undefined) return undefined
  return /^[^#]/m.test(status) ? `${commit}-dirty` : commit
}

/** Whether a folder is in a Git repository. */
export function isInRepository(folder: string): boolean {
  if (existsSync(path.join(folder, '.git'))) return true
  const parent = path.dirname(folder)
  return parent !== folder && isInRepository(parent)
}

/** Runs Git in a folder. Returns what Git prints, or nothing if it fails. The settings prevent it from running other programs and waiting. */
export function runGit(folder: string, args: readonly string[]): Promise<string> {
  const options = ['--no-optional-locks', '-c', 'core.fsmonitor=false', '-c', 'core.quotePath=true']
  return new Promise((resolve) => {
    execFile(
      'git',
      [...options, ...args],
      { cwd: folder, timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024, windowsHide: true },
      (error, output) => resolve(error === null ? output : ''),
    )
  })
}
