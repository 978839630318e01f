import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { readEnvironment, type PackageManager, type Variables } from '../../kit/index.ts'

/** Where a package manager gets packages. */
export interface Registry {
  readonly url: string
  /** The variables of the proxies that it uses. */
  readonly proxies: Variables
}

/** Asks a package manager, which also reads the environment and the files of the user and of the machine. */
export async function readRegistry(manager: PackageManager, folder: string): Promise<Registry> {
  const ask = makeAsker(folder)
  if (manager === 'yarn') return askYarn(ask)
  // Bun cannot be asked. It reads the files and variables of npm, which may not be there.
  const given = (await ask(manager === 'pnpm' ? 'pnpm' : 'npm', 'config', 'list', '--json')) ?? '{}'
  const config = parseConfig(given)
  return { url: config.registry ?? 'https://registry.npmjs.org/', proxies: joinProxies(config) }
}

/** The current Yarn has other names than Yarn 1, and no variables of other programs. */
async function askYarn(ask: Ask): Promise<Registry> {
  const get = (name: string) => ask('yarn', 'config', 'get', name)
  const [current, httpProxy, httpsProxy] = await Promise.all(['npmRegistryServer', 'httpProxy', 'httpsProxy'].map(get))
  if (current !== undefined) return { url: current, proxies: { http_proxy: httpProxy, https_proxy: httpsProxy } }
  const [registry, proxy, secure] = await Promise.all(['registry', 'proxy', 'https-proxy'].map(get))
  const config = { registry, proxy, 'https-proxy': secure }
  return { url: registry ?? 'https://registry.yarnpkg.com/', proxies: joinProxies(config) }
}

interface Config {
  readonly registry?: string | undefined
  readonly proxy?: string | null | undefined
  readonly 'https-proxy'?: string | null | undefined
  readonly noproxy?: string | readonly string[] | null
}

function parseConfig(text: string): Config {
  try {
    return JSON.parse(text) as Config
  } catch {
    return {}
  }
}

/** What npm, pnpm and Yarn 1 have for proxies takes precedence over the variables. */
function joinProxies({ proxy, 'https-proxy': httpsProxy, noproxy }: Config): Variables {
  const own = { http_proxy: proxy, https_proxy: httpsProxy ?? proxy, no_proxy: noproxy?.toString() }
  const given = Object.entries(own).filter(([, value]) => typeof value === 'string' && value !== '')
  return { ...readEnvironment(), ...(Object.fromEntries(given) as Variables) }
}

type Ask = (command: string, ...words: readonly string[]) => Promise<string | undefined>

function makeAsker(cwd: string): Ask {
  const run = promisify(execFile)
  return async (command, ...words) => {
    try {
      const { stdout } = await run(command, words, { cwd, shell: process.platform === 'win32' })
      const text = stdout.trim()
      return text === '' || text === 'undefined' || text === 'null' ? undefined : text
    } catch {
      return undefined // it is missing, or knows no such setting
    }
  }
}
