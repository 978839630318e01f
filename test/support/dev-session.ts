import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { checkout, cleanEnvironment } from './cli.ts'
import type { Held } from './held.ts'

/** A built `waypost dev` on a project, in a process that reports what it holds. */
export interface DevSession extends AsyncDisposable {
  readonly port: number
  /** Everything printed so far. */
  output(): string
  /** What the process holds after a full garbage collection. */
  held(): Promise<Held>
}

/**
 * Starts `dev`. Resolves when it serves.
 * @param env further variables
 */
export async function startDev(folder: string, env: Readonly<Record<string, string>> = {}): Promise<DevSession> {
  const child = fork(path.join(checkout, 'bin/run.js'), ['dev', '--no-deliver', '--port', '0'], {
    cwd: folder,
    env: cleanEnvironment(env),
    execArgv: ['--expose-gc', `--import=${import.meta.resolve('./dev-probe.ts')}`],
    silent: true,
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  let text = ''
  const ended = once(child, 'exit')
  const port = await new Promise<number>((resolve, reject) => {
    const look = (part: Buffer) => {
      text += part.toString('utf8')
      const url = /Ready in/.test(text) ? /http:\/\/[\w.]+:(\d+)/.exec(text) : null
      if (url !== null) resolve(Number(url[1]))
    }
    child.stdout!.on('data', look)
    child.stderr!.on('data', look)
    void ended.then(() => reject(new Error(`dev ended before it was ready:\n${text}`)))
  })
  return {
    port,
    output: () => text,
    async held() {
      child.send('held')
      const [held] = (await once(child, 'message')) as [Held]
      return held
    },
    async [Symbol.asyncDispose]() {
      process.off('exit', kill)
      child.kill('SIGTERM')
      await ended
    },
  }
}
