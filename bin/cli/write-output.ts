import path from 'node:path'
import { mkdir, writeFile } from 'node:fs/promises'
import { messageOf } from '../../src/kit/index.ts'
import { errors } from './errors.ts'

/**
 * Writes a result to a file, or to stdout by default.
 * @returns whether a file was written
 * @throws WP_CLI_OUTPUT
 */
export async function writeOutput(text: string, file: string | undefined): Promise<boolean> {
  if (file === undefined || file === '-') {
    process.stdout.write(text)
    return false
  }
  try {
    await mkdir(path.dirname(path.resolve(file)), { recursive: true })
    await writeFile(file, text)
  } catch (cause) {
    throw errors.WP_CLI_OUTPUT({ file, reason: messageOf(cause) }, { cause })
  }
  return true
}

/** Waits until a signal is aborted. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
