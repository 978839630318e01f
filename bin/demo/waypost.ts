import { spawn } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'

const launcher = path.join(import.meta.dirname, '..', 'run.js')

/**
 * Runs a command.
 * @returns its output
 * @throws an error with its error output if it fails
 */
export async function runWaypost(folder: string, words: readonly string[], input = ''): Promise<string> {
  const child = spawn(process.execPath, [launcher, ...words], { cwd: folder, stdio: 'pipe' })
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
  child.stdin.end(input)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`waypost ${words.join(' ')} failed (${code}):\n${stdout.text()}${stderr.text()}`)
  return stdout.text()
}

/** Starts `dev` and waits until it serves. */
export async function startWaypost(
  folder: string,
  words: readonly string[],
): Promise<{ stop(): Promise<void>; ended: Promise<void> }> {
  const child = spawn(process.execPath, [launcher, ...words], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', () => stdout.text().includes('Ready in') && resolve())
  })
  await Promise.race([ready, ended, new Promise((resolve) => setTimeout(resolve, 30_000).unref())])
  if (!stdout.text().includes('Ready in')) {
    child.kill('SIGTERM')
    throw new Error(`waypost ${words.join(' ')} did not start:\n${stdout.text()}${stderr.text()}`)
  }
  return {
    ended,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

export async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function collect(stream: NodeJS.ReadableStream): { text(): string } {
  let text = ''
  stream.on('data', (part: Buffer) => (text += part.toString()))
  return { text: () => text }
}
