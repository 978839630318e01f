import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { installation, nearest } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { copyFiles } from './copy-files.ts'
import { fillPackage, packageName } from './fill-package.ts'
import { install, type InstallResult } from './install.ts'
import { addParts, usesWaypost, partsFolder } from './parts.ts'

export interface InitOptions {
  readonly folder: string
  /** The template, `todo` by default. If undefined, parts are added to an existing project. */
  readonly template?: string | undefined
  /** Deployment files to add: names of `listParts`. */
  readonly parts?: readonly string[]
  /** Write missing files into a folder that is not empty. */
  readonly force: boolean
  readonly install: boolean
}

export interface InitReport extends InstallResult {
  readonly folder: string
  /** Undefined if only parts were added. */
  readonly template: string | undefined
  /** Written files of the template, relative to the folder. */
  readonly files: readonly string[]
  /** Written files of the parts. */
  readonly added: readonly string[]
  /** Files of the parts that existed and were not changed. */
  readonly left: readonly string[]
}

const templates = path.join(installation, 'templates')

/**
 * Creates a project, or adds parts to an existing one. Files are never overwritten.
 * @throws WP_PROJECT_TEMPLATE, WP_PROJECT_NOT_EMPTY, WP_PROJECT_NO_FOLDER
 */
export async function initProject(options: InitOptions): Promise<InitReport> {
  const { folder, parts = [] } = options
  if (parts.length > 0 && options.template === undefined && usesWaypost(folder)) {
    const { files: added, left } = await addParts(folder, parts)
    return { folder, template: undefined, files: [], added, left, installedMs: undefined }
  }
  const template = options.template ?? 'todo'
  const source = await findTemplate(template)
  await assertUsable(options)
  const { files } = await copyFiles({ source, folder, fill: (target, text) => fill(target, text, folder) })
  const { files: added, left } = await addParts(folder, parts)
  const installed = options.install ? await install(folder) : { installedMs: undefined }
  return { folder, template, files, added, left, ...installed }
}

function fill(target: string, text: string, folder: string): string {
  const name = packageName(folder)
  const short = name
    .replace(/^waypost-plugin-/, '')
    .replaceAll(/[._]/g, '-')
    .slice(0, 40)
  const named = text.replaceAll('waypost-plugin-my-plugin', name).replaceAll('my-plugin', short)
  if (target === 'package.json') return fillPackage(named, folder)
  return target === 'README.md' ? named.replace(/^# .*/, `# ${name}`) : named
}

async function findTemplate(name: string): Promise<string> {
  const entries = await readdir(templates, { withFileTypes: true })
  const names = entries.flatMap((entry) =>
    entry.isDirectory() && entry.name !== path.basename(partsFolder) ? [entry.name] : [],
  )
  if (names.includes(name)) return path.join(templates, name)
  const guess = nearest(name, names)
  throw errors.WP_PROJECT_TEMPLATE({
    name,
    hint: guess === undefined ? `Templates: ${names.sort().join(', ')}.` : `Did you mean "${guess}"?`,
  })
}

async function assertUsable({ folder, force }: InitOptions): Promise<void> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') throw errors.WP_PROJECT_NO_FOLDER({ folder: nearestExisting(folder) })
    return undefined
  })
  if (found === undefined) return
  if (!found.isDirectory()) throw errors.WP_PROJECT_NO_FOLDER({ folder })
  const { length } = await readdir(folder)
  if (length > 0 && !force) {
    throw errors.WP_PROJECT_NOT_EMPTY({
      folder: `${path.basename(folder)}/`,
      count: length === 1 ? '1 file' : `${length} files`,
    })
  }
}

/** Returns the nearest existing ancestor of a folder, or the folder itself. */
function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(path.dirname(folder))
}
