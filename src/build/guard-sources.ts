import type { OnLoadResult, Plugin, PluginBuild } from 'esbuild'
import { readdirSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { openFolder, readProjectBytes, type ProjectFolder } from '../definition/index.ts'
import { rewriteFileUrls, type AssetSink } from './collect-assets.ts'
import { findModuleResources } from './find-module-resources.ts'
import { findProcessEnv } from './find-process-env.ts'

/** Larger than any hand-written source. */
const maxBytes = 10 * 1024 * 1024

/** A file that was not bundled, passed through esbuild to `checkErrors`. */
export interface RejectedFile {
  readonly file: string
}

/**
 * Restricts bundling to regular files of the project and of installed or linked packages. esbuild itself would read a
 * pipe or a password file. Files are opened before they are checked.
 * @param assets collects the files that sources reference by `new URL`
 * @param known what was read before and has not changed; without it, everything is read
 */
export function guardSources(root: string, assets: AssetSink, known?: SourceResults): Plugin {
  const folder = openFolder(root)
  const isAllowed = makePathFilter(root)
  return {
    name: 'waypost-sources',
    setup(build) {
      build.onLoad({ filter: /.*/, namespace: 'file' }, ({ path: file }) => {
        // Not read. `checkBundle` reports each import that leads outside.
        if (!isAllowed(file)) return { contents: 'module.exports = {}', loader: 'js' }
        if (folder !== undefined && isBelow(root, file) && !isInstalled(file))
          return loadKnown(known, { folder, file, assets }, build.esbuild)
        return isRegular(file) ? undefined : reject(file, 'it is not a regular file')
      })
    },
  }
}

/** Returns a function that checks whether an absolute path belongs to the project or to a package. */
export function makePathFilter(root: string): (file: string) => boolean {
  let linked: readonly string[] | undefined
  return (file) => {
    if (isBelow(root, file) || isInstalled(file)) return true
    linked ??= findLinked(root)
    return linked.some((target) => isBelow(target, file))
  }
}

/** Results of sources by path. In `dev`, all others need not be read again after a save. */
export type SourceResults = Map<string, OnLoadResult>

async function loadKnown(
  known: SourceResults | undefined,
  source: OwnSource,
  esbuild: PluginBuild['esbuild'],
): Promise<OnLoadResult> {
  const before = known?.get(source.file)
  if (before !== undefined) return before
  const { isComplete, ...result } = await loadOwn(source, esbuild)
  if (isComplete) known?.set(source.file, result)
  return result
}

/** Forgets sources that may have changed. */
export function forgetSources(known: SourceResults, root: string, changed: ReadonlySet<string> | undefined): void {
  if (changed === undefined) known.clear()
  else for (const file of changed) known.delete(path.join(root, file))
}

interface LoadedSource extends OnLoadResult {
  /** Whether nothing but the text of the file decides about the result. */
  readonly isComplete?: boolean
}

/** Files whose saves `dev` does not notice. */
const unwatched = /^(?:coverage|\.[^/]*)\//

interface OwnSource {
  readonly folder: ProjectFolder
  readonly file: string
  readonly assets: AssetSink
}

async function loadOwn({ folder, file, assets }: OwnSource, esbuild: PluginBuild['esbuild']): Promise<LoadedSource> {
  const name = path.relative(folder.realRoot, file).split(path.sep).join('/')
  const read = readProjectBytes(folder, name, maxBytes)
  if ('bytes' in read) {
    // Migrations have no context that could provide the variable.
    const isAction = !name.startsWith('migrations/')
    const text = Buffer.from(read.bytes).toString('utf8')
    const warnings = isAction
      ? [...(await findProcessEnv(esbuild, name, text)), ...(await findModuleResources(esbuild, name, text))]
      : []
    const rewritten = await rewriteFileUrls(esbuild, { folder, name, text }, assets)
    const contents = rewritten.text === text ? read.bytes : rewritten.text
    const isComplete = !text.includes('import.meta') && !unwatched.test(name)
    return { contents, loader: 'default', warnings, errors: [...rewritten.errors], isComplete }
  }
  return reject(name, read.problem === 'refused' ? read.reason : 'it no longer exists')
}

function reject(file: string, text: string): OnLoadResult {
  return { errors: [{ text, detail: { file } satisfies RejectedFile }] }
}

function isBelow(folder: string, file: string): boolean {
  return file.startsWith(folder + path.sep)
}

function isInstalled(file: string): boolean {
  return file.includes(`${path.sep}node_modules${path.sep}`)
}

function isRegular(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true
}

/** Returns the real paths of linked packages in `node_modules`, such as those of a workspace. */
function findLinked(root: string): string[] {
  const targets: string[] = []
  for (let at = root; ; at = path.dirname(at)) {
    const modules = path.join(at, 'node_modules')
    for (const name of listLinks(modules)) {
      const inner = name.startsWith('@') ? listLinks(path.join(modules, name)) : []
      for (const link of [name, ...inner.map((one) => path.join(name, one))])
        addTarget(path.join(modules, link), targets)
    }
    if (at === path.dirname(at)) return targets
  }
}

function listLinks(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isSymbolicLink() || entry.name.startsWith('@')).map(({ name }) => name)
  } catch {
    return []
  }
}

function addTarget(link: string, targets: string[]): void {
  try {
    const target = realpathSync(link)
    if (path.basename(link).startsWith('@') || !statSync(target).isDirectory()) return
    targets.push(target)
  } catch {
    // A broken link is not a package.
  }
}
