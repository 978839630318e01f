import { readdirSync, type Dirent } from 'node:fs'
import path from 'node:path'
import { openFolder, readProjectFile, type FileProblem, type ProjectFolder } from '../definition/index.ts'
import { isStorable, type Diagnostic } from '../kit/index.ts'
import { fileLimits, findFilesProblem, findPathProblem, type DefinitionFile } from '../release/index.ts'
import { errors } from './errors.ts'
import type { LoadedProject } from './load-project.ts'

export interface CollectedFiles {
  /** By path. */
  readonly files: readonly DefinitionFile[]
  readonly diagnostics: readonly Diagnostic[]
}

/** More folders and files than any definition has. */
const maxEntries = 20_000

/**
 * Reads the definition files of a project, which each activation keeps: `waypost.yml`, what it includes, `resources/`,
 * declared migrations and `tables.json`. All of them are .yml or .json files. Reads nothing else.
 * @param textOf returns the texts of files that have been loaded, which are not read again
 */
export function collectDefinitionFiles(
  root: string,
  { files, pluginFiles }: Loaded,
  textOf: (file: string) => string | undefined = () => undefined,
): CollectedFiles {
  const folder = openFolder(root)
  if (folder === undefined) return { files: [], diagnostics: [] }
  const ofPlugins = new Set(pluginFiles)
  const used = files.filter((file) => /\.(ya?ml|json)$/.test(file) && !ofPlugins.has(file))
  const kept = [...listResources(folder), ...listMigrationFiles(folder)].filter((file) => isDefinitionFile(file))
  const found: DefinitionFile[] = []
  const diagnostics: Diagnostic[] = []
  for (const file of [...new Set([...used, ...kept])].toSorted()) {
    const problem = findPathProblem(file)
    if (problem !== undefined) {
      diagnostics.push(diagnoseFile(file, errors.WP_PROJECT_FILE_LEFT({ file, reason: problem }), 'warning'))
      continue
    }
    const text = textOf(file)
    const read = describeText(file, text === undefined ? readProjectFile(folder, file) : { text })
    if (read === undefined) continue
    if ('reason' in read) diagnostics.push(diagnoseFile(file, errors.WP_PROJECT_FILE({ file, ...read })))
    else found.push(read)
    if (found.length > fileLimits.files) break
  }
  const exceeded = findFilesProblem(
    found.map(({ path: file, content }) => ({ path: file, bytes: Buffer.byteLength(content) })),
  )
  if (exceeded !== undefined) {
    const { path: file, problem: reason } = exceeded
    diagnostics.push(diagnoseFile(file, errors.WP_PROJECT_FILE({ file, reason, hint: hintOfLimits })))
  }
  return { files: found, diagnostics }
}

type Loaded = Pick<LoadedProject, 'files' | 'pluginFiles'>

const hintOfLimits = `A definition has at most ${fileLimits.files} files, 1 MB in one and 8 MB in all. Move or delete files in resources/ that the definition does not use.`

function isDefinitionFile(file: string): boolean {
  return findPathProblem(file) === undefined
}

/** Undefined if it is not a file, such as a link to a folder. */
function describeText(
  file: string,
  read: { readonly text: string } | FileProblem,
): DefinitionFile | { readonly reason: string; readonly hint: string } | undefined {
  if ('text' in read) {
    if (isStorable(read.text)) return { path: file, content: read.text }
    return { reason: 'it contains a NUL character', hint: 'Remove the character, or move the file.' }
  }
  if (read.problem === 'missing') return undefined
  const hint = 'Move the file out of resources/ and migrations/, or replace it with a file of the project.'
  if (read.problem === 'outside') return { reason: 'it is a symbolic link to a file outside the project', hint }
  if (read.reason === 'it is a folder') return undefined
  return { reason: read.reason, hint: read.hint ?? hint }
}

/** A problem of a whole file. */
export function diagnoseFile(
  file: string,
  { code, message, hint = '' }: { readonly code: string; readonly message: string; readonly hint?: string | undefined },
  severity: Diagnostic['severity'] = 'error',
): Diagnostic {
  const start = { line: 1, column: 1 }
  return { code, severity, message, hint, file, range: { start, end: start }, source: '' }
}

/** Lists everything below `resources/`, without following links to folders. */
function listResources(folder: ProjectFolder): readonly string[] {
  const found: string[] = []
  const folders = ['resources']
  for (let entries = 0; folders.length > 0 && entries < maxEntries;) {
    const at = folders.pop()!
    for (const entry of listFolder(folder, at)) {
      entries += 1
      const file = `${at}/${entry.name}`
      if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules') folders.push(file)
      else if (!entry.isDirectory()) found.push(file)
    }
  }
  return found
}

/** Lists the declared migrations of each connection and its `tables.json`. */
function listMigrationFiles(folder: ProjectFolder): readonly string[] {
  const connections = listFolder(folder, 'migrations').filter((entry) => entry.isDirectory())
  return connections.flatMap(({ name: connection }) =>
    listFolder(folder, `migrations/${connection}`)
      .filter(({ name }) => name.endsWith('.yml') || name === 'tables.json')
      .map(({ name }) => `migrations/${connection}/${name}`),
  )
}

function listFolder({ root }: ProjectFolder, at: string): readonly Dirent[] {
  try {
    return readdirSync(path.join(root, at), { withFileTypes: true })
  } catch {
    return []
  }
}
