import { createInterface } from 'node:readline/promises'
import { interrupted } from './signals.ts'

/** Asks a question that only `y` or `yes` answers with yes. Call it only where somebody is there to answer. */
export async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} (y/N) `)).trim())
  } catch (error) {
    // Ctrl-C at the question is the interrupt that the terminal would have sent otherwise.
    process.stderr.write('\n')
    process.exitCode = interrupted
    throw error
  } finally {
    terminal.close()
  }
}

/** What standard input holds, without the line end: secrets are never arguments. */
export async function readSecret(): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of process.stdin) parts.push(part as Buffer)
  return Buffer.concat(parts)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
