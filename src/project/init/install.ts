import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { readEnvironment, variable, type PackageManager, type Variables } from '../../kit/index.ts'

export interface InstallResult {
  /** How long it took, in milliseconds; undefined if nothing was installed. */
  readonly installedMs: number | undefined
  /** Why it failed. */
  readonly installProblem?: string
}

export interface InstallOptions {
  readonly manager: PackageManager
  /** Called with a sentence if the registry does not respond while packages are being installed. */
  onWait?(message: string): void
}

// npm would try for minutes.
const quickly = ['--fetch-retries', '1', '--fetch-retry-mintimeout', '1000', '--fetch-retry-maxtimeout', '2000']
const words: Readonly<Record<PackageManager, readonly string[]>> = {
  npm: ['install', '--no-audit', '--no-fund', '--loglevel', 'error', ...quickly],
  pnpm: ['install', ...quickly],
  yarn: ['install'],
  bun: ['install'],
}

/** Installs the dependencies of a folder. Failures are returned, not thrown, because it can be run later. */
export async function install(folder: string, { manager, onWait }: InstallOptions): Promise<InstallResult> {
  const startedAt = performance.now()
  const output: string[] = []
  const installing = new AbortController()
  if (onWait !== undefined) void noteSilence(folder, installing.signal, onWait)
  const code = await new Promise<number | null>((resolve) => {
    const child = spawn(manager, words[manager], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    child.stdout.on('data', (part: Buffer) => output.push(part.toString()))
    child.stderr.on('data', (part: Buffer) => output.push(part.toString()))
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  installing.abort()
  if (code === 0) return { installedMs: performance.now() - startedAt }
  const reason = code === null ? `${manager} was not found in PATH` : explain(output.join(''), manager)
  return { installedMs: undefined, installProblem: reason }
}

function explain(output: string, manager: PackageManager): string {
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET/.test(output))
    return `${manager} could not reach the registry`
  const line = output.split('\n').find((one) => /\b(?:error|ERR!|ERR_\w+)\b/i.test(one) && !/^npm \S+ code/.test(one))
  return line === undefined ? `${manager} failed` : `${manager} said: ${line.trim().replace(/^npm (error|ERR!) */, '')}`
}

const silenceMs = 4000

/** Says that the registry does not respond. Behind a proxy, only the package manager can know. */
async function noteSilence(folder: string, installing: AbortSignal, onWait: (message: string) => void): Promise<void> {
  const variables = readEnvironment()
  const proxies = ['https_proxy', 'http_proxy', 'npm_config_proxy', 'npm_config_https_proxy']
  if (proxies.some((name) => (variable(variables, name) ?? variable(variables, name.toUpperCase())) !== undefined))
    return
  const { origin, pathname } = new URL(findRegistry(folder, variables)) // without a password
  const registry = origin + pathname
  try {
    await fetch(registry, { method: 'HEAD', signal: AbortSignal.any([installing, AbortSignal.timeout(silenceMs)]) })
  } catch {
    if (!installing.aborted)
      onWait(`The registry ${registry} does not respond; still trying. --no-install leaves it out.`)
  }
}

/** As package managers tell the commands that they start, or from the `.npmrc` of the folder or one above it. */
function findRegistry(folder: string, variables: Variables): string {
  const told = variable(variables, 'npm_config_registry')
  if (told !== undefined && URL.canParse(told)) return told
  for (let at = folder; ; at = path.dirname(at)) {
    const found = /^registry\s*=\s*(\S+)/m.exec(readText(path.join(at, '.npmrc')))?.[1]
    if (found !== undefined && URL.canParse(found)) return found
    if (at === path.dirname(at)) return 'https://registry.npmjs.org/'
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
