import { fork, type ChildProcess } from 'node:child_process'
import path from 'node:path'

/** Starts a file of this folder in its own process. */
export function openChild(file: string, ...words: string[]): ChildProcess {
  return fork(path.join(import.meta.dirname, file), words)
}
