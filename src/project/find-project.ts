import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { errors } from './errors.ts'

/** A developer's folder. */
export interface Project {
  readonly root: string
  /** What its release is called: the same wherever the folder lies. */
  readonly name: string
  /** What it is called to people here. */
  readonly label: string
}

/** The project in a folder. @throws WP_PROJECT_NONE */
export function findProject(folder: string): Project {
  if (!existsSync(path.join(folder, 'waypost.yml'))) throw errors.WP_PROJECT_NONE({ folder })
  const name = readName(folder)
  return { root: folder, name: name ?? 'api', label: name ?? path.basename(folder) }
}

function readName(folder: string): string | undefined {
  try {
    // A pipe would be waited for.
    if (!statSync(path.join(folder, 'package.json')).isFile()) return undefined
    const { name } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { name?: unknown }
    return typeof name === 'string' && name !== '' ? name : undefined
  } catch {
    return undefined
  }
}
