import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { parseYaml } from '../../definition/index.ts'
import { findHome, readEnvironment, variable, type PackageManager, type Variables } from '../../kit/index.ts'

/** Where a package manager gets packages. */
export interface Registry {
  readonly url: string
  /** The variables of the proxies that it uses. */
  readonly proxies: Variables
}

/** Returns where the dependencies of a folder come from, as far as it can be found within a second. */
export async function readRegistry(manager: PackageManager, folder: string): Promise<Registry> {
  // `init` writes settings for the current Yarn, which Yarn 1 does not read.
  const isYarn1 = variable(readEnvironment(), 'npm_config_user_agent')?.startsWith('yarn/1.') === true
  const yarn = manager === 'yarn' && !isYarn1 ? readYarnSettings(folder) : undefined
  // pnpm, Bun and Yarn 1 use the variables of npm, and take longer to ask.
  return yarn === undefined ? askNpm(folder) : readYarnRegistry(yarn)
}

interface YarnSettings {
  readonly npmRegistryServer?: string
  readonly httpProxy?: string
  readonly httpsProxy?: string
}

/** The settings of the current Yarn, whose files Yarn 1 does not have. */
function readYarnSettings(folder: string): YarnSettings | undefined {
  const folders = [findHome() ?? [], listAbove(folder)].flat()
  const files = folders.map((one) => path.join(one, '.yarnrc.yml')).filter(existsSync)
  if (files.length === 0) return undefined
  return Object.assign({}, ...files.map(readYaml)) as YarnSettings
}

/** The outermost first. */
function listAbove(folder: string): readonly string[] {
  const above = path.dirname(folder)
  return above === folder ? [folder] : [...listAbove(above), folder]
}

function readYaml(file: string): unknown {
  try {
    return parseYaml(readFileSync(file, 'utf8'))
  } catch {
    return undefined // Yarn reports it
  }
}

/** It does not use the variables of other programs. */
function readYarnRegistry({ npmRegistryServer, httpProxy, httpsProxy }: YarnSettings): Registry {
  const url = variable(readEnvironment(), 'YARN_NPM_REGISTRY_SERVER') ?? npmRegistryServer
  return {
    url: url ?? 'https://registry.yarnpkg.com/',
    proxies: { http_proxy: httpProxy, https_proxy: httpsProxy },
  }
}

interface NpmConfig {
  readonly registry?: string
  readonly proxy?: string | null
  readonly 'https-proxy'?: string | null
  readonly noproxy?: string | readonly string[] | null
}

/** npm also reads the environment and the files of the user and of the machine. */
async function askNpm(folder: string): Promise<Registry> {
  const { registry, proxy, 'https-proxy': httpsProxy, noproxy } = await readNpmConfig(folder)
  const own = { http_proxy: proxy, https_proxy: httpsProxy ?? proxy, no_proxy: noproxy?.toString() }
  const given = Object.entries(own).filter(([, value]) => typeof value === 'string' && value !== '')
  return {
    url: registry ?? 'https://registry.npmjs.org/',
    proxies: { ...readEnvironment(), ...(Object.fromEntries(given) as Variables) },
  }
}

async function readNpmConfig(folder: string): Promise<NpmConfig> {
  const run = promisify(execFile)
  const options = { cwd: folder, shell: process.platform === 'win32' }
  try {
    return JSON.parse((await run('npm', ['config', 'list', '--json'], options)).stdout) as NpmConfig
  } catch {
    return {} // it may not be there
  }
}
