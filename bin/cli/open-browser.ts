import { spawn } from 'node:child_process'
import { messageOf } from '../../src/kit/index.ts'
import { errors } from './errors.ts'

/**
 * Opens a URL in the user's browser.
 * @param onFailed called if nothing could be started
 */
export function openBrowser(url: string, onFailed: (reason: string) => void): void {
  const [command, ...words] = browserCommand(url, process.platform)
  const child = spawn(command, words, { stdio: 'ignore', detached: true })
  child.on('error', (error) => onFailed(error.message))
  child.on('exit', (code) => {
    if (code !== 0 && code !== null && process.platform !== 'win32') onFailed(`${command} ended with ${code}`)
  })
  child.unref()
}

/** No shell is used, so no part of the URL is interpreted as a command. */
export function browserCommand(url: string, platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open', url]
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url]
  return ['xdg-open', url]
}

export interface OpenInspector {
  /** The URL for debuggers. */
  readonly url: string
  close(): void
}

/**
 * Lets a local debugger attach to this process.
 * @throws WP_CLI_INSPECT
 */
export async function openInspector(port: number): Promise<OpenInspector> {
  const inspector = await import('node:inspector')
  const before = inspector.url() // through NODE_OPTIONS
  if (before !== undefined) return { url: before, close: () => undefined }
  try {
    inspector.open(port, '127.0.0.1')
  } catch (cause) {
    throw errors.WP_CLI_INSPECT({ port, reason: messageOf(cause) }, { cause })
  }
  const url = inspector.url()
  if (url === undefined) throw errors.WP_CLI_INSPECT({ port, reason: 'the port is already in use' })
  return { url, close: () => inspector.close() }
}
