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
  const names = new Set(
    [...listSources(root).filter((file) => holdsClass(path.join(root, file))), ...users.keys()].filter(
      (file) => file !== undefined,
    ),
  )
  return [...names].toSorted().map((file) => ({ file, usedBy: (users.get(file) ?? []).map(({ name }) => name) }))
}

/** A line of code that contains a column, in a file that also contains its table. */
export interface CodeMention {
  /** Undefined for the table. */
  readonly column: string | undefined
  /** `file:line` */
  readonly source: string
}

/** Returns the first line of each file below `src/` that mentions a column of a table, or the table itself. */
export function findMentions(
  root: string,
  table: string,
  columns: readonly (string | undefined)[],
): readonly CodeMention[] {
  const wordOf = (name: string) => new RegExp(`(?<![\\w$])${name.replaceAll(/\W/g, '\\$&')}(?![\\w$])`)
  if (columns.length === 0) return []
  return listSources(root)
    .toSorted()
    .flatMap((file) => {
      const text = readSource(path.join(root, file))
      if (!wordOf(table).test(text)) return []
      return columns.flatMap((column): CodeMention[] => {
        const line = text.split('\n').findIndex((one) => wordOf(column ?? table).test(one))
        return line === -1 ? [] : [{ column, source: `${file}:${line + 1}` }]
      })
    })
}

function readSource(file: string): string {
  try {
    return lstatSync(file).size > maxBytes ? '' : readFileSync(file, 'utf8')
  } catch {
    return ''
  }
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
      else if (entry.isFile() && /(?<!\.d|\.test|\.spec)\.[tj]s$/.test(name)) found.push(name)
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
  return /^export default (abstract )?class\b|^export \{[^}]*\bas default\b/m.test(readSource(file))
}
