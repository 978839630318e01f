import { existsSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import {
  findPackageManager,
  installation,
  nearest,
  readEnvironment,
  variable,
  type PackageManager,
} from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { assertBuildable } from '../find-project.ts'
import { copyFiles } from './copy-files.ts'
import { fillPackage, packageName } from './fill-package.ts'
import { install, type InstallResult } from './install.ts'
import { findAbove, writeManagerSettings } from './manager-settings.ts'
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
  /** Called with a sentence if the registry does not respond. */
  onWait?(message: string): void
}

export interface InitReport extends InstallResult {
  readonly folder: string
  /** The one that called `init`, or that manages the folder. */
  readonly manager: PackageManager
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
 * @throws WP_PROJECT_TEMPLATE, WP_PROJECT_NOT_EMPTY, WP_PROJECT_NO_FOLDER, WP_PROJECT_BACKSLASH
 */
export async function initProject(options: InitOptions): Promise<InitReport> {
  const { folder, parts = [], onWait } = options
  assertBuildable(folder)
  const agent = variable(readEnvironment(), 'npm_config_user_agent')
  const manager = findPackageManager(folder, agent)
  if (parts.length > 0 && options.template === undefined && usesWaypost(folder)) {
    const { files: added, left } = await addParts(folder, parts)
    return { folder, manager, template: undefined, files: [], added, left, installedMs: undefined }
  }
  const template = options.template ?? 'todo'
  const source = await findTemplate(template)
  await assertUsable(options)
  const { files } = await copyFiles({ source, folder, fill: (target, text) => fill(target, text, folder) })
  const written: string[] = template === 'host' && parts.length === 0 ? [...(await writeHostEnvironment(folder))] : []
  const { files: added, left } = await addParts(folder, parts)
  written.push(...(await writeManagerSettings(folder, manager, agent)))
  const how = { manager, ...(onWait && { onWait }) }
  const installed = options.install ? await install(folder, how) : { installedMs: undefined }
  await findHoistedSchemas(folder, ['waypost.yml', ...files])
  return { folder, manager, template, files: [...written, ...files], added, left, ...installed }
}

const schemaFolder = 'node_modules/waypost'

/** In a workspace, npm may install Waypost above the project: then the comments for editors in YAML files name that. */
async function findHoistedSchemas(folder: string, files: readonly string[]): Promise<void> {
  const found = findAbove(folder, `${schemaFolder}/waypost.schema.json`)
  if (found === undefined || found === path.join(folder, schemaFolder, 'waypost.schema.json')) return
  for (const file of new Set(files)) {
    const full = path.join(folder, file)
    if (!file.endsWith('.yml') || !existsSync(full)) continue
    const text = await readFile(full, 'utf8')
    const hoisted = path.relative(path.dirname(full), path.dirname(found)).split(path.sep).join('/')
    const own = `$schema=${path.posix.relative(path.posix.dirname(file), '.') || '.'}/${schemaFolder}/`
    const changed = text.replace(own, () => `$schema=${hoisted}/`)
    if (changed !== text) await writeFile(full, changed)
  }
}

/** Writes the files around a definition that a project needs: those that are missing. */
export async function completeProject(folder: string): Promise<void> {
  const only = ['package.json', 'tsconfig.json', '.gitignore', '.env.example']
  const source = path.join(templates, 'empty')
  await copyFiles({ source, folder, only, fill: (target, text) => fill(target, text, folder) })
}

/**
 * Writes the `.env` of a server that runs at once: for this machine only, with a secret of its own. With parts, the
 * environment comes from systemd, Docker or Kubernetes.
 * @returns the written files
 */
async function writeHostEnvironment(folder: string): Promise<readonly string[]> {
  const text = `# Only for the user who runs Waypost. For production, see .env.example.
WAYPOST_SYSTEM_URL='sqlite:.waypost/system.db'
WAYPOST_BASE_URL='http://localhost:3000'
# The encryption secret. Keep a copy in a safe place.
WAYPOST_SECRET='${randomBytes(32).toString('base64')}'
HOST='127.0.0.1'
`
  try {
    await writeFile(path.join(folder, '.env'), text, { flag: 'wx', mode: 0o600 })
    return ['.env']
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return []
    throw error
  }
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

/**
 * Checks that a project can be in a folder.
 * @returns whether the folder exists
 * @throws WP_PROJECT_NO_FOLDER if it is a file or below one
 */
export async function assertFolder(folder: string): Promise<boolean> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') throw errors.WP_PROJECT_NO_FOLDER({ folder: nearestExisting(folder) })
    return undefined
  })
  if (found?.isDirectory() === false) throw errors.WP_PROJECT_NO_FOLDER({ folder })
  return found !== undefined
}

async function assertUsable({ folder, force }: InitOptions): Promise<void> {
  if (!(await assertFolder(folder))) return
  const { length } = await listUsed(folder)
  if (length > 0 && !force) {
    throw errors.WP_PROJECT_NOT_EMPTY({
      folder: `${path.basename(folder)}/`,
      count: length === 1 ? '1 file' : `${length} files`,
    })
  }
}

/** Files that exist before a project: of git, editors and the operating system. */
const unrelated = new Set(['.git', '.idea', '.vscode', '.DS_Store'])

async function listUsed(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => !unrelated.has(name))
}

/** Whether a project can be created in this folder without mixing it with other files. */
export async function isUnusedFolder(folder: string): Promise<boolean> {
  return (await listUsed(folder)).length === 0
}

/** Returns the nearest existing ancestor of a folder, or the folder itself. */
function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(path.dirname(folder))
}
