import { spawn } from 'node:child_process'
import { messageOf, readEnvironment, type PackageManager } from '../../kit/index.ts'
import { loadFetch, readProxies } from '../../outbound/index.ts'
import { readRegistry } from './registry.ts'

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

// npm would try for minutes. As variables, because pnpm has no such flags since version 12.
const quickly = Object.fromEntries(
  ['npm_config', 'pnpm_config'].flatMap((prefix) => [
    [`${prefix}_fetch_retries`, '1'],
    [`${prefix}_fetch_retry_mintimeout`, '1000'],
    [`${prefix}_fetch_retry_maxtimeout`, '2000'],
  ]),
)
const words: Readonly<Record<PackageManager, readonly string[]>> = {
  npm: ['install', '--no-audit', '--no-fund', '--loglevel', 'error'],
  pnpm: ['install'],
  yarn: ['install'],
  bun: ['install'],
}

/** Installs the dependencies of a folder. Failures are returned, not thrown, because it can be run later. */
export async function install(folder: string, { manager, onWait }: InstallOptions): Promise<InstallResult> {
  const startedAt = performance.now()
  const output: string[] = []
  const installing = new AbortController()
  let isSilent = false
  const noteWait = (message: string) => {
    isSilent = true
    onWait?.(message)
  }
  const watching = onWait && noteSilence({ folder, manager, installing: installing.signal, onWait: noteWait })
  const code = await new Promise<number | null>((resolve) => {
    const child = spawn(manager, words[manager], {
      cwd: folder,
      env: { ...readEnvironment(), ...quickly },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    child.stdout.on('data', (part: Buffer) => output.push(part.toString()))
    child.stderr.on('data', (part: Buffer) => output.push(part.toString()))
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  const isUnclear = output.some((part) => part.includes(unclear))
  if (isUnclear) await watching
  installing.abort()
  if (code === 0) return { installedMs: performance.now() - startedAt }
  const reason = code === null ? `${manager} was not found in PATH` : explain(output.join(''), manager, isSilent)
  return { installedMs: undefined, installProblem: reason }
}

/** What Yarn 1 says if the registry cannot be reached. */
const unclear = "Couldn't find package"
const unreached = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|ConnectionRefused|Socket closed/

function explain(output: string, manager: PackageManager, isSilent: boolean): string {
  if (unreached.test(output) || (isSilent && output.includes(unclear))) return `${manager} could not reach the registry`
  const line = output.split('\n').find((one) => /\b(?:error|ERR!|ERR_\w+)\b/i.test(one) && !/^npm \S+ code/.test(one))
  return line === undefined ? `${manager} failed` : `${manager} said: ${line.trim().replace(/^npm (error|ERR!) */, '')}`
}

// Users wait for 5 s at most, with the start of the command. A registry gets at least 2 s, also on a slow machine.
const [silenceMs, leastMs] = [4000, 2000]

interface Watch extends Required<InstallOptions> {
  readonly folder: string
  readonly installing: AbortSignal
}

/** Says that the registry does not respond, or not through the proxy. */
async function noteSilence({ folder, manager, installing, onWait }: Watch): Promise<void> {
  const startedAt = performance.now()
  const { url, proxies } = await readRegistry(manager, folder)
  if (!URL.canParse(url)) return
  const { origin, pathname } = new URL(url) // without a password
  try {
    const fetch = await loadFetch(proxies)
    const restMs = Math.max(leastMs, silenceMs - (performance.now() - startedAt)) // the manager has taken some of it
    const signal = AbortSignal.any([installing, AbortSignal.timeout(Math.round(restMs))])
    await fetch(url, { method: 'HEAD', signal })
  } catch (error) {
    if (installing.aborted || !isUnreachable(error)) return
    const how = readProxies(proxies) === undefined ? '' : ' through the proxy'
    const registryName = `The registry ${origin}${pathname}`
    onWait(`${registryName} does not respond${how}; still trying. To skip the installation, use --no-install.`)
  }
}

/** A registry whose certificate only the package manager trusts does respond. */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = (error.cause ?? {}) as { readonly code?: string }
  // A proxy may also say that it cannot connect.
  return (
    error.name === 'TimeoutError' ||
    unreachable.has(code ?? '') ||
    /^Proxy response \(50[0-4]\)/.test(messageOf(error.cause))
  )
}

const unreachable = new Set(
  'ENOTFOUND EAI_AGAIN ECONNREFUSED ECONNRESET ETIMEDOUT EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT'.split(' '),
)
