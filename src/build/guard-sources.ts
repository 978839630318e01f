import type { OnLoadResult, Plugin, PluginBuild } from 'esbuild'
import { readdirSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { openFolder, readBytesInside, type ProjectFolder } from '../definition/index.ts'
import { rewriteFileUrls, type CarriedSink } from './carry-files.ts'
import { findProcessEnv } from './find-process-env.ts'

/** Larger than any source that somebody wrote. */
const maxBytes = 10 * 1024 * 1024

/** A file that does not come into a bundle, as esbuild hands it on to `checkErrors`. */
export interface Refused {
  readonly file: string
}

/**
 * Lets only regular files come into a bundle: those of the project, opened first and looked at then, and those of
 * packages, wherever they are installed or linked from. esbuild itself would read a pipe, or a password file.
 * @param carried what the sources name by `new URL` is added to it
 */
export function guardSources(root: string, carried: CarriedSink): Plugin {
  const folder = openFolder(root)
  const isAllowed = makeAllowed(root)
  return {
    name: 'waypost-sources',
    setup(build) {
      build.onLoad({ filter: /.*/, namespace: 'file' }, ({ path: file }) => {
        // Not read; `checkBundle` tells at each import that it leads outside.
        if (!isAllowed(file)) return { contents: 'module.exports = {}', loader: 'js' }
        if (folder !== undefined && isBelow(root, file) && !isInstalled(file))
          return loadOwn({ folder, file, carried }, build.esbuild)
        return isRegular(file) ? undefined : refuse(file, 'it is not a regular file')
      })
    },
  }
}

/** Whether a file, by its absolute path, belongs to the project or to a package that it may use. */
export function makeAllowed(root: string): (file: string) => boolean {
  let linked: readonly string[] | undefined
  return (file) => {
    if (isBelow(root, file) || isInstalled(file)) return true
    linked ??= findLinked(root)
    return linked.some((target) => isBelow(target, file))
  }
}

interface OwnSource {
  readonly folder: ProjectFolder
  readonly file: string
  readonly carried: CarriedSink
}

async function loadOwn({ folder, file, carried }: OwnSource, esbuild: PluginBuild['esbuild']): Promise<OnLoadResult> {
  const name = path.relative(folder.realRoot, file).split(path.sep).join('/')
  const read = readBytesInside(folder, name, maxBytes)
  if ('bytes' in read) {
    // A migration has no context that could hold the variable.
    const isAction = !name.startsWith('migrations/')
    const text = Buffer.from(read.bytes).toString('utf8')
    const warnings = isAction ? await findProcessEnv(esbuild, name, text) : []
    const rewritten = await rewriteFileUrls(esbuild, { folder, name, text }, carried)
    const contents = rewritten.text === text ? read.bytes : rewritten.text
    return { contents, loader: 'default', warnings, errors: [...rewritten.errors] }
  }
  return refuse(name, read.problem === 'refused' ? read.reason : 'it no longer exists')
}

function refuse(file: string, text: string): OnLoadResult {
  return { errors: [{ text, detail: { file } satisfies Refused }] }
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

/** Where the packages lie that are links in `node_modules`, as those of a workspace are. */
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
    // A link to nowhere is no package.
  }
}
