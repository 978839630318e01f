import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { checkout } from './cli.ts'
import { until } from './until.ts'

/** Why tests in a terminal cannot run on this machine, for the option `skip`. */
export const skipTerminal =
  spawnSync('script', ['--version']).status === 0 ? false : 'the program script is not installed'

/** `waypost dev` in a terminal of its own. */
export interface Terminal extends AsyncDisposable {
  /** What the terminal showed so far. */
  shown(): string
  type(keys: string): void
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
  /** Returns the address that a browser was opened with. */
  opened(): Promise<string>
}

/**
 * Runs `waypost dev` in a terminal. The programs of the terminal are a shell and a browser that only records its address.
 * @param more further programs: the text of a shell script by name
 */
export async function openTerminal(folder: string, more: Readonly<Record<string, string>> = {}): Promise<Terminal> {
  const programs = await mkdtemp(path.join(tmpdir(), 'waypost-terminal-'))
  const opened = path.join(programs, 'opened')
  const scripts = { 'xdg-open': `printf '%s' "$1" > '${opened}'`, ...more }
  for (const [name, text] of Object.entries(scripts)) {
    await writeFile(path.join(programs, name), `#!/bin/sh\n${text}\n`)
    await chmod(path.join(programs, name), 0o755)
  }
  await symlink('/bin/sh', path.join(programs, 'sh'))
  const dev = `'${process.execPath}' '${path.join(checkout, 'bin/run.js')}' dev --port 0`
  const env = { ...process.env, SHELL: '/bin/sh', TERM: 'xterm', CI: '' }
  const child = spawn('script', ['--quiet', '--return', '--command', `PATH='${programs}' ${dev}`, '/dev/null'], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text))
  return {
    shown: () => shown,
    type: (keys) => void child.stdin.write(keys),
    ended,
    async opened() {
      let url = ''
      await until('a browser is opened', async () => {
        url = await readFile(opened, 'utf8').catch(() => '')
        return url !== ''
      })
      return url
    },
    async [Symbol.asyncDispose]() {
      child.kill()
      await ended
      await rm(programs, { recursive: true, force: true })
    },
  }
}
