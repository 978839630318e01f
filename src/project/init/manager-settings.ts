import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { approveBuilds } from '../../definition/index.ts'
import { readJsonFile, type PackageManager } from '../../kit/index.ts'

/**
 * Writes what a package manager needs to know about a new project.
 * @param agent the variable `npm_config_user_agent`
 * @returns the written files, relative to the folder
 */
export async function writeManagerSettings(
  folder: string,
  manager: PackageManager,
  agent: string | undefined,
): Promise<readonly string[]> {
  if (manager === 'pnpm') return writePnpmSettings(folder)
  // Yarn 1 has no such file, and always makes node_modules.
  return manager === 'yarn' && agent?.startsWith('yarn/1.') !== true ? writeYarnSettings(folder) : []
}

/**
 * Says which packages need their install scripts. Without that, pnpm fails. In a workspace, pnpm reads only the settings at
 * its root.
 */
async function writePnpmSettings(folder: string): Promise<readonly string[]> {
  const file = findAbove(folder, 'pnpm-workspace.yaml') ?? path.join(folder, 'pnpm-workspace.yaml')
  const before = existsSync(file) ? await readFile(file, 'utf8') : '# esbuild works without its install script.\n'
  const text = approveBuilds(before, readPackage(folder).allowScripts ?? {})
  if (text === before) return []
  await writeFile(file, text)
  return [path.relative(folder, file)]
}

interface Package {
  /** Which packages need their install scripts, as `fillPackage` decided. */
  readonly allowScripts?: Readonly<Record<string, boolean>>
}

function readPackage(folder: string): Package {
  return readJsonFile(path.join(folder, 'package.json')) as Package
}

const yarnSettings = `# TypeScript 7 and Node find packages in node_modules, not in the archives of Plug'n'Play.
nodeLinker: node-modules
# Beside what it is about, so that Git ignores it.
installStatePath: node_modules/.yarn-install-state.gz
`

/** In a workspace, the settings at its root decide where packages are. */
async function writeYarnSettings(folder: string): Promise<readonly string[]> {
  const settings = readPackage(folder)
  const needed = Object.entries(settings.allowScripts ?? {}).flatMap(([name, isNeeded]) => (isNeeded ? [name] : []))
  const dependenciesMeta = Object.fromEntries(needed.map((name) => [name, { built: true }]))
  const text = `${JSON.stringify({ ...settings, dependenciesMeta }, undefined, 2)}\n`
  if (needed.length > 0) await writeFile(path.join(folder, 'package.json'), text)
  if (findAbove(folder, '.yarnrc.yml') !== undefined || findAbove(path.dirname(folder), 'yarn.lock') !== undefined)
    return []
  await writeFile(path.join(folder, '.yarnrc.yml'), yarnSettings)
  return ['.yarnrc.yml']
}

/** Returns the file of a name in a folder or the nearest one above it. */
export function findAbove(folder: string, name: string): string | undefined {
  const file = path.join(folder, name)
  if (existsSync(file)) return file
  const above = path.dirname(folder)
  return above === folder ? undefined : findAbove(above, name)
}
