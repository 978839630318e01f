import path from 'node:path'
import { readJsonFile } from '../kit/index.ts'

/**
 * Returns a file name that does not depend on the location of the project: relative to its root, or `node_modules/…`
 * for packages, including those installed above the root or linked. Always with forward slashes.
 */
export function projectPath(root: string, file: string): string {
  const relative = path.relative(root, file).split(path.sep).join('/')
  if (!relative.startsWith('../') && !path.isAbsolute(relative)) return relative
  const inModules = /(?:^|\/)(node_modules\/.*)$/.exec(relative)
  return inModules?.[1] ?? linkedPath(file)
}

/** Whether a name from `projectPath` belongs to a package. */
export function isPackagePath(name: string): boolean {
  return name.includes('node_modules/')
}

/** Whether a path of esbuild's metafile, relative to the root, is a file of the project itself. */
export function isOwnInput(file: string): boolean {
  return !file.startsWith('../') && !path.isAbsolute(file) && !isPackagePath(file)
}

function linkedPath(file: string): string {
  for (let folder = path.dirname(file); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const name = packageName(folder)
    if (name !== undefined)
      return path.posix.join('node_modules', name, path.relative(folder, file).split(path.sep).join('/'))
  }
  return path.posix.join('node_modules', path.basename(file))
}

function packageName(folder: string): string | undefined {
  try {
    const { name } = readJsonFile(path.join(folder, 'package.json')) as { name?: unknown }
    return typeof name === 'string' ? name : undefined
  } catch {
    return undefined
  }
}
