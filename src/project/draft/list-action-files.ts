import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { ActionFile } from '../../backend/index.ts'
import type { Definition } from '../../definition/index.ts'
import { findUses } from '../generate/generate-action.ts'

const maxFiles = 5000
const maxBytes = 1024 * 1024

/** Lists the files below `src/` that export a class, and other files that the definition uses, by name. */
export function listActionFiles(root: string, definition: Definition | undefined): readonly ActionFile[] {
  const users = Map.groupBy(definition === undefined ? [] : findUses(definition), ({ file }) => file)
  const names = new Set([...listSources(root), ...users.keys()].filter((file) => file !== undefined))
  return [...names].toSorted().map((file) => ({ file, usedBy: (users.get(file) ?? []).map(({ name }) => name) }))
}

function listSources(root: string): readonly string[] {
  const found: string[] = []
  const folders = ['src']
  for (let count = 0; folders.length > 0 && count < maxFiles;) {
    const folder = folders.pop()!
    for (const entry of readFolder(path.join(root, folder))) {
      count += 1
      const name = `${folder}/${entry.name}`
      if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules') folders.push(name)
      else if (entry.isFile() && /(?<!\.d|\.test|\.spec)\.[tj]s$/.test(name) && holdsClass(path.join(root, name)))
        found.push(name)
    }
  }
  return found
}

function readFolder(folder: string) {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder, { withFileTypes: true }) : []
  } catch {
    return []
  }
}

function holdsClass(file: string): boolean {
  try {
    if (lstatSync(file).size > maxBytes) return false
    return /^export default (abstract )?class\b|^export \{[^}]*\bas default\b/m.test(readFileSync(file, 'utf8'))
  } catch {
    return false
  }
}
