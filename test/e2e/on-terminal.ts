import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { checkout, cleanEnvironment } from '../support/cli.ts'
import type { TestProject } from '../support/project.ts'

/** What was overwritten in a row, and its end. */
// oxlint-disable-next-line no-control-regex -- a terminal is told by these
export const rewritten = /\r?[^\r\n]*\u001B\[2?K/g

/** Runs a command on a terminal of 80 columns; this process goes on meanwhile. @param typed once it has printed something */
export async function onTerminal(
  project: TestProject,
  words: string,
  typed?: { readonly after: string; readonly text: string },
): Promise<{ code: number; printed: string }> {
  const command = `stty cols 80; ${process.execPath} ${path.join(checkout, 'bin/run.js')} ${words}`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: project.folder,
    env: cleanEnvironment({ TERM: 'xterm-256color', NO_COLOR: '1' }),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let printed = ''
  let isTyped = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    if (typed === undefined || isTyped || !printed.includes(typed.after)) return
    isTyped = true
    child.stdin.write(typed.text)
  })
  const [code] = (await once(child, 'close')) as [number]
  return { code, printed }
}
