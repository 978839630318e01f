import { globSync } from 'node:fs'
import path from 'node:path'
import { installation, isSourceCheckout, version } from '../../kit/index.ts'

/**
 * Returns the `package.json` of a template with the name of the folder. In a source checkout it depends on the
 * checkout.
 */
export function fillPackage(text: string, folder: string): string {
  const packageJson = JSON.parse(text) as PackageJson
  packageJson.name = packageName(folder)
  // A plugin only needs Waypost for its tests.
  const dependencies = packageJson.dependencies ?? (packageJson.devDependencies ??= {})
  dependencies['waypost'] = isSourceCheckout ? linkTo(folder, installation) : `^${version}`
  const pinned = isSourceCheckout ? findPinnedNode() : undefined
  if (pinned !== undefined) (packageJson.devDependencies ??= {})[path.basename(pinned)] = linkTo(folder, pinned)
  return `${JSON.stringify(packageJson, undefined, 2)}\n`
}

interface PackageJson {
  name: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
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

/**
 * Returns the package with the pinned Node of a checkout if this process runs on it, because the machine may have no
 * other Node that is new enough. (The package `node` itself would reinstall that package each time.)
 */
function findPinnedNode(): string | undefined {
  const folder = path.join(installation, 'node_modules', 'node')
  if (!process.execPath.startsWith(folder + path.sep)) return undefined
  const [found] = globSync('node_modules/node-*/bin/node', { cwd: folder })
  return found && path.join(folder, path.dirname(path.dirname(found)))
}

function linkTo(folder: string, target: string): string {
  return `file:${path.relative(folder, target).split(path.sep).join('/') || '.'}`
}
