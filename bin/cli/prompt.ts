import { createInterface } from 'node:readline/promises'
import { interrupted } from './signals.ts'

/** Asks a question; `y` or `yes` confirms. Requires a terminal. */
export async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} (y/N) `)).trim())
  } catch (error) {
    // Ctrl-C at the question is handled like SIGINT.
    process.stderr.write('\n')
    process.exitCode = interrupted
    throw error
  } finally {
    terminal.close()
  }
}

/** Reads a secret from standard input, without the line end. Secrets are never arguments. */
export async function readSecret(): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of process.stdin) parts.push(part as Buffer)
  return Buffer.concat(parts)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
