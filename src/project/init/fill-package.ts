import { existsSync, globSync } from 'node:fs'
import path from 'node:path'
import { installation, isSourceCheckout, readJsonFile, version } from '../../kit/index.ts'

/**
 * Returns the `package.json` of a template with the name of the folder. It depends on Waypost from where this copy came
 * from: a checkout of the sources, a packed file, or the registry.
 */
export function fillPackage(text: string, folder: string): string {
  const packageJson = JSON.parse(text) as PackageJson
  packageJson.name = packageName(folder)
  // A plugin only needs Waypost for its tests.
  const dependencies = packageJson.dependencies ?? (packageJson.devDependencies ??= {})
  const source = isSourceCheckout ? installation : findPackedFile()
  dependencies['waypost'] = source === undefined ? `^${version}` : linkTo(folder, source)
  const [node, where] = (isSourceCheckout ? findPinnedNode(folder) : findInstalledNode()) ?? []
  if (node !== undefined) (packageJson.devDependencies ??= {})[node] = where!
  // The platform's package already contains the program, so npm need not ask about its install script.
  packageJson.allowScripts = { esbuild: false, ...(node === 'node' && { node: true }) }
  return `${JSON.stringify(packageJson, undefined, 2)}\n`
}

interface PackageJson {
  name: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  allowScripts?: Record<string, boolean>
}

/** Returns the name of a folder in a form that npm accepts. */
export function packageName(folder: string): string {
  const name = path
    .basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '')
  return name === '' ? 'api' : name.slice(0, 214)
}

/** Returns the file that `npm pack` wrote and npm installed this copy from, as npm records it. */
function findPackedFile(): string | undefined {
  const modules = path.dirname(installation)
  try {
    const { packages } = readJsonFile(path.join(modules, '.package-lock.json')) as InstalledPackages
    const resolved = packages['node_modules/waypost']?.resolved ?? ''
    const file = path.resolve(path.dirname(modules), resolved.replace(/^file:/, ''))
    return resolved.startsWith('file:') && existsSync(file) ? file : undefined
  } catch {
    return undefined // another package manager, or an installation for all projects
  }
}

interface InstalledPackages {
  readonly packages: Readonly<Record<string, { readonly resolved?: string }>>
}

/** Returns the package `node` if this process runs on it, because the machine may have no other Node that is new enough. */
function findInstalledNode(): [name: string, version: string] | undefined {
  return /[\\/]node_modules[\\/]node[\\/]/.test(process.execPath) ? ['node', `^${process.versions.node}`] : undefined
}

/**
 * Returns the package with the pinned Node of a checkout if this process runs on it. (The package `node` itself would
 * reinstall that package each time.)
 */
function findPinnedNode(folder: string): [name: string, link: string] | undefined {
  const home = path.join(installation, 'node_modules', 'node')
  if (!process.execPath.startsWith(home + path.sep)) return undefined
  const [found] = globSync('node_modules/node-*/bin/node', { cwd: home })
  const pinned = found && path.join(home, path.dirname(path.dirname(found)))
  return pinned ? [path.basename(pinned), linkTo(folder, pinned)] : undefined
}

function linkTo(folder: string, target: string): string {
  return `file:${path.relative(folder, target).split(path.sep).join('/') || '.'}`
}
