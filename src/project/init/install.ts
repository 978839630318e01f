import { spawn } from 'node:child_process'

export interface InstallResult {
  /** How long npm took, in milliseconds; undefined if nothing was installed. */
  readonly installedMs: number | undefined
  /** Why npm failed. */
  readonly installProblem?: string
}

/** Installs the dependencies of a folder with npm. Failures are returned, not thrown, because it can be run later. */
export async function install(folder: string): Promise<InstallResult> {
  const startedAt = performance.now()
  const output: string[] = []
  const code = await new Promise<number | null>((resolve) => {
    const npm = spawn('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    npm.stdout.on('data', (part: Buffer) => output.push(part.toString()))
    npm.stderr.on('data', (part: Buffer) => output.push(part.toString()))
    npm.once('error', () => resolve(null))
    npm.once('close', resolve)
  })
  if (code === 0) return { installedMs: performance.now() - startedAt }
  const reason = code === null ? 'npm was not found in PATH' : explain(output.join(''))
  return { installedMs: undefined, installProblem: reason }
}

function explain(output: string): string {
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET/.test(output)) return 'npm could not reach the registry'
  const line = output.split('\n').find((one) => /^npm (error|ERR!)/.test(one) && !/code/.test(one))
  return line === undefined ? 'npm failed' : `npm said: ${line.replace(/^npm (error|ERR!) */, '')}`
}
