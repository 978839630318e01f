import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { decodeText, findEncodingProblem } from '../../src/kit/index.ts'
import { errors } from './errors.ts'
import { interrupted } from './signals.ts'

/**
 * Asks a question; `y` or `yes` confirms. Requires a terminal.
 * @param isDefault whether Enter confirms too
 */
export async function confirm(question: string, { isDefault = false } = {}): Promise<boolean> {
  const answer = (await ask(`${question} ${isDefault ? '(Y/n)' : '(y/N)'} `, process.stderr)).trim()
  return answer === '' ? isDefault : /^y(es)?$/i.test(answer)
}

async function ask(question: string, output: NodeJS.WritableStream): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output, terminal: process.stdin.isTTY })
  try {
    return await terminal.question(question)
  } catch (error) {
    // Ctrl-C at the question is handled like SIGINT.
    process.stderr.write('\n')
    process.exitCode = interrupted
    throw error
  } finally {
    terminal.close()
  }
}

/**
 * Reads a secret from standard input, without the line end. Secrets are never arguments.
 * @param question asked on a terminal; what is typed then does not appear
 * @throws WP_CLI_STDIN
 */
export async function readSecret(question?: string): Promise<string> {
  if (question !== undefined && process.stdin.isTTY) return askHidden(question)
  const parts: Buffer[] = []
  for await (const part of process.stdin) parts.push(part as Buffer)
  const bytes = Buffer.concat(parts)
  const problem = findEncodingProblem(bytes)
  if (problem !== undefined) throw errors.WP_CLI_STDIN({ reason: problem.reason })
  return decodeText(bytes).replace(/\r?\n$/, '')
}

async function askHidden(question: string): Promise<string> {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const answer = await ask('', silent)
  process.stderr.write('\n')
  return answer
}
