import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Variables } from '../../src/kit/index.ts'

/** Starts a script of this folder that kills itself, and waits until it has opened a System. */
export async function startMortal(
  script: string,
  { folder, variables }: { readonly folder: string; readonly variables: Variables },
): Promise<ChildProcess> {
  const child = fork(path.join(import.meta.dirname, script), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ready = once(child, 'message')
  child.send({ folder, variables })
  await ready
  return child
}

export async function endMortal(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
