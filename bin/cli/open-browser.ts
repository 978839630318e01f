import { spawn } from 'node:child_process'

/** Opens an address in the browser of whoever sits here. @param onFailed called when nothing could be started */
export function openBrowser(url: string, onFailed: (reason: string) => void): void {
  const [command, ...words] = browserCommand(url, process.platform)
  const child = spawn(command, words, { stdio: 'ignore', detached: true })
  child.on('error', (error) => onFailed(error.message))
  child.on('exit', (code) => {
    if (code !== 0 && code !== null && process.platform !== 'win32') onFailed(`${command} ended with ${code}`)
  })
  child.unref()
}

/** No shell takes part, so that nothing in the address is ever a command. */
export function browserCommand(url: string, platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open', url]
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url]
  return ['xdg-open', url]
}
