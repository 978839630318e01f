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
  const { allowScripts = {} } = readJsonFile(path.join(folder, 'package.json')) as PackageScripts
  const text = approveBuilds(before, allowScripts)
  if (text === before) return []
  await writeFile(file, text)
  return [path.relative(folder, file)]
}

interface PackageScripts {
  /** What `fillPackage` decided. */
  readonly allowScripts?: Readonly<Record<string, boolean>>
}

const yarnSettings = `# TypeScript 7 and Node find packages in node_modules, not in the archives of Plug'n'Play.
nodeLinker: node-modules
# Beside what it is about, so that Git ignores it.
installStatePath: node_modules/.yarn-install-state.gz
`

/** In a workspace, the settings at its root decide. */
async function writeYarnSettings(folder: string): Promise<readonly string[]> {
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
