import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { installation } from '../../kit/index.ts'
import { copyFiles, type Copied } from './copy-files.ts'
import { packageName } from './fill-package.ts'

/** What files of parts call the project that they are for. */
const placeholder = /\bmy-api\b/g
/** Lines of a part that are for the folder of a project, and not for that of a server. */
const ofProject = /^ *# <project>\n([^]*?)^ *# <\/project>\n/gm

export const partsFolder: string = path.join(installation, 'templates', 'with')

/** What can surround a project or the folder of a server: docker, github and so on. */
export async function listParts(): Promise<readonly string[]> {
  const entries = await readdir(partsFolder, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()
}

/** Adds the files of parts to a folder, with its name in them. */
export async function addParts(folder: string, parts: readonly string[]): Promise<Copied> {
  const name = packageName(folder)
  const isProject = existsSync(path.join(folder, 'waypost.yml'))
  const fill = (_target: string, text: string) =>
    text.replaceAll(ofProject, isProject ? '$1' : '').replaceAll(placeholder, name)
  const files: string[] = []
  const left: string[] = []
  for (const part of new Set(parts)) {
    const copied = await copyFiles({ source: path.join(partsFolder, part), folder, fill })
    files.push(...copied.files)
    left.push(...copied.left)
  }
  return { files, left }
}

/** Whether a folder is a project, or the folder of a server: its `package.json` names Waypost. */
export function hasWaypost(folder: string): boolean {
  if (existsSync(path.join(folder, 'waypost.yml'))) return true
  try {
    const { dependencies } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, unknown>
    }
    return dependencies?.['waypost'] !== undefined
  } catch {
    return false
  }
}
