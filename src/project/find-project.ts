import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { readJsonFile } from '../kit/index.ts'
import { errors } from './errors.ts'

/** A project folder. */
export interface Project {
  readonly root: string
  /** The name shown to users. */
  readonly label: string
}

/**
 * Returns the project in a folder.
 * @throws WP_PROJECT_NONE, WP_PROJECT_BACKSLASH
 */
export function findProject(folder: string): Project {
  assertBuildable(folder)
  if (!existsSync(path.join(folder, 'waypost.yml'))) throw errors.WP_PROJECT_NONE({ folder })
  return { root: folder, label: readName(folder) ?? path.basename(folder) }
}

/**
 * Checks that a project in a folder could be built.
 * @throws WP_PROJECT_BACKSLASH
 */
export function assertBuildable(folder: string): void {
  // esbuild and Node read it as the separator of Windows.
  if (path.sep === '/' && folder.includes('\\')) throw errors.WP_PROJECT_BACKSLASH({ folder })
}

function readName(folder: string): string | undefined {
  try {
    // Reading a pipe would block.
    if (!statSync(path.join(folder, 'package.json')).isFile()) return undefined
    const { name } = readJsonFile(path.join(folder, 'package.json')) as { name?: unknown }
    return typeof name === 'string' && name !== '' ? name : undefined
  } catch {
    return undefined
  }
}
