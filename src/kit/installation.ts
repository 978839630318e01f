import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/** The folder of this installation of Waypost, which contains its `package.json`. */
export const installation: string = findInstallation()

/** Waypost's own version, for example `1.0.0`. */
export const version: string = readJson('package.json')['version'] ?? '0.0.0'

/** `waypost/<version>@<build_hash>`. The hash is the commit of the build, or `source` without a build. */
export const userAgent = `waypost/${version}@${readJson('dist/build.json')['commit'] ?? 'source'}`

/** The user agent of commands that query a running `dev`, which distinguishes them from requests of the developer. */
export const probeAgent = `${userAgent} (probe)`

export function isProbeAgent(agent: string | undefined): boolean {
  return agent !== undefined && /^waypost\/\S+ \(probe\)$/.test(agent)
}

/** Whether this is a checkout of the sources rather than the published package. */
export const isSourceCheckout: boolean = existsSync(path.join(installation, 'src/index.ts'))

/**
 * Returns the URL of a module of Waypost that runs on its own: a worker, a child process, or a published entry point.
 * The build bundles modules into shared files, so `import.meta.url` does not locate their neighbours.
 * @param name path from the root of the sources without extension, for example `src/index`; an entry of
 * bin/build/bundle.ts
 */
export function urlOfModule(name: string): URL {
  const runsSources = path.extname(import.meta.url) === '.ts'
  return pathToFileURL(path.join(installation, runsSources ? `${name}.ts` : `dist/${name}.js`))
}

/**
 * The URLs of what projects and plugins import as `waypost`: always the copy of this installation, from sources or built,
 * so that there is one of it in a process.
 */
export const publicModules: ReadonlyMap<string, string> = new Map(
  Object.entries({
    waypost: 'src/index',
    'waypost/cli': 'bin/cli/plugin-command',
    'waypost/sql': 'src/sql',
    'waypost/testing': 'src/testing/index',
  }).map(([name, module]) => [name, urlOfModule(module).href]),
)

/** This module is in `src/kit` of the sources, or bundled into `dist/chunks`. */
function findInstallation(): string {
  return path.resolve(import.meta.dirname, '../..')
}

function readJson(name: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(path.join(installation, name), 'utf8')) as Record<string, string>
  } catch {
    return {}
  }
}
