import { spawn } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { installation, isSourceCheckout, nearest, version } from '../kit/index.ts'
import { errors } from './errors.ts'

export interface InitOptions {
  readonly folder: string
  readonly template: string
  /** Write the files that are missing into a folder that is not empty. */
  readonly force: boolean
  readonly install: boolean
}

export interface InitReport {
  readonly folder: string
  readonly template: string
  /** Files that were written, relative to the folder. */
  readonly files: readonly string[]
  /** How long npm took; undefined when nothing was installed. */
  readonly installedMs: number | undefined
  /** Why npm installed nothing although it should have. */
  readonly installProblem?: string
}

const templates = path.join(installation, 'templates')

/**
 * Scaffolds a project. In a source checkout it depends on the checkout.
 * @throws WP_PROJECT_TEMPLATE, WP_PROJECT_NOT_EMPTY, WP_PROJECT_NO_FOLDER
 */
export async function initProject(options: InitOptions): Promise<InitReport> {
  const source = await findTemplate(options.template)
  await assertUsable(options)
  const files: string[] = []
  for (const name of await listFiles(source)) {
    const target = name.replace(/(^|\/)__/, '$1.') // npm leaves dot files out of packages
    const file = path.join(options.folder, target)
    if (existsSync(file)) continue
    await mkdir(path.dirname(file), { recursive: true })
    const text = await readFile(path.join(source, name), 'utf8')
    await writeFile(
      file,
      target === 'package.json' ? fillPackage(text, options.folder) : fillName(target, text, options.folder),
    )
    files.push(target)
  }
  const report = { folder: options.folder, template: options.template, files: files.sort() }
  return { ...report, ...(options.install ? await install(options.folder) : { installedMs: undefined }) }
}

async function findTemplate(name: string): Promise<string> {
  const names = (await readdir(templates, { withFileTypes: true })).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  )
  if (names.includes(name)) return path.join(templates, name)
  const guess = nearest(name, names)
  throw errors.WP_PROJECT_TEMPLATE({
    name,
    hint: guess === undefined ? `There is: ${names.sort().join(', ')}.` : `Did you mean "${guess}"?`,
  })
}

async function assertUsable({ folder, force }: InitOptions): Promise<void> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') throw errors.WP_PROJECT_NO_FOLDER({ folder: nearestThere(folder) })
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

/** What stands on the way to a folder that is not there. */
function nearestThere(folder: string): string {
  return existsSync(folder) ? folder : nearestThere(path.dirname(folder))
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((name) => !/^(\.waypost|node_modules)\//.test(name)) // what running a template in its place leaves
}

function fillPackage(text: string, folder: string): string {
  const packageJson = JSON.parse(text) as Record<'dependencies' | 'devDependencies', Record<string, string>> & {
    name: string
  }
  packageJson.name = packageName(folder)
  packageJson.dependencies['waypost'] = isSourceCheckout ? linkTo(folder, installation) : `^${version}`
  const pinned = isSourceCheckout ? findPinnedNode() : undefined
  if (pinned !== undefined) packageJson.devDependencies[path.basename(pinned)] = linkTo(folder, pinned)
  return `${JSON.stringify(packageJson, undefined, 2)}\n`
}

/**
 * The package with the Node that the checkout pins, if that is what runs this: whoever works in a checkout may have no
 * other that is new enough for the project. (The package `node` itself would install that package anew each time.)
 */
function findPinnedNode(): string | undefined {
  const folder = path.join(installation, 'node_modules', 'node')
  if (!process.execPath.startsWith(folder + path.sep)) return undefined
  const [found] = globSync('node_modules/node-*/bin/node', { cwd: folder })
  return found && path.join(folder, path.dirname(path.dirname(found)))
}

function linkTo(folder: string, target: string): string {
  return `file:${path.relative(folder, target).split(path.sep).join('/') || '.'}`
}

function fillName(target: string, text: string, folder: string): string {
  return target === 'README.md' ? text.replace(/^# .*/, `# ${packageName(folder)}`) : text
}

/** The folder's name as npm accepts it. */
function packageName(folder: string): string {
  const name = path
    .basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '')
  return name === '' ? 'api' : name.slice(0, 214)
}

async function install(folder: string): Promise<Pick<InitReport, 'installedMs' | 'installProblem'>> {
  const began = performance.now()
  const output: string[] = []
  const code = await new Promise<number | null>((resolve) => {
    const npm = spawn('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    npm.stdout.on('data', (part: Buffer) => output.push(part.toString()))
    npm.stderr.on('data', (part: Buffer) => output.push(part.toString()))
    npm.once('error', () => resolve(null))
    npm.once('close', resolve)
  })
  if (code === 0) return { installedMs: performance.now() - began }
  const reason = code === null ? 'npm is not on the PATH' : explain(output.join(''))
  return { installedMs: undefined, installProblem: reason }
}

function explain(output: string): string {
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET/.test(output)) return 'npm could not reach the registry'
  const line = output.split('\n').find((one) => /^npm (error|ERR!)/.test(one) && !/code/.test(one))
  return line === undefined ? 'npm failed' : `npm said: ${line.replace(/^npm (error|ERR!) */, '')}`
}
