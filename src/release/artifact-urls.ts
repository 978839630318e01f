import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Artifact } from './manifest.ts'

// Node reads source maps only for schemes of letters followed by `://`, and resolves their sources against the URL: a
// stack shows `waypost:///src/todo/insert.ts`.
const prefix = 'waypost:///'
const mapPattern = /\n\/\/# sourceMappingURL=data:application\/json;base64,([\w+/=]+)\s*$/

/** The URL of the folder of the project, with a slash at the end, if coverage is measured. */
let root: string | undefined
/** The names of modules whose source files are shown, by hash, and their hashes by URL. */
const shown = new Map<string, string>()
const hashes = new Map<string, string>()

/**
 * From now on, modules have `file:` URLs beside their sources, and source maps that name the files of a folder. Tools
 * for coverage ignore other URLs, or fail because of them.
 */
export function showSourceFiles(folder: string): void {
  root = pathToFileURL(path.join(folder, path.sep)).href
}

/** Notes where the source files of an artifact are, if they are shown. */
export function noteSources({ hash, content }: Artifact): void {
  const [first] = root === undefined || shown.has(hash) ? [] : readSources(content)
  if (first === undefined) return
  const name = first.replace(/\.\w+$/, `.${hash}$&`)
  shown.set(hash, new URL(name, root).href)
  hashes.set(new URL(name, root).href, hash)
}

/** Returns the URL of the module of an artifact that is loaded for the given time. */
export function makeArtifactUrl(hash: string, count?: number): string {
  const url = shown.get(hash) ?? prefix + hash
  return count === undefined ? url : `${url}?${count}`
}

export function isArtifactUrl(url: string): boolean {
  return url.startsWith(prefix) || (hashes.size > 0 && hashes.has(withoutQuery(url)))
}

/** Returns the hash of an artifact from the URL of its module. */
export function hashOfUrl(url: string): string | undefined {
  if (url.startsWith(prefix)) return withoutQuery(url).slice(prefix.length)
  return hashes.get(withoutQuery(url))
}

/** Returns what the module of an artifact contains: if source files are shown, its source map names them. */
export function locateSources({ hash, content }: Artifact): string {
  if (root === undefined) return content
  if (!shown.has(hash)) return content.replace(mapPattern, '\n') // a chunk of helpers of the bundler, without sources
  return content.replace(mapPattern, (_, map: string) => {
    const parsed = parseMap(map)
    const located = { ...parsed, sources: parsed.sources.map((source) => new URL(source, root).href) }
    return `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(located)).toString('base64')}\n`
  })
}

/** Returns the files of a project of which an artifact consists, as URLs relative to its folder. */
export function readSources(content: string): readonly string[] {
  const map = mapPattern.exec(content)?.[1]
  return map === undefined ? [] : parseMap(map).sources
}

/** Whether a line of a stack is code of a project. */
export function isProjectFrame(line: string): boolean {
  return line.includes(prefix) || (root !== undefined && line.includes(root) && !line.includes('/node_modules/'))
}

/** Returns a stack with the project's own file names, such as `src/todo/insert.ts:8:35`. */
export function resolveStack(stack: string): string {
  const own = root === undefined ? stack : stack.replaceAll(root, prefix)
  return own.replace(/waypost:\/\/\/([^\s()]+)/g, (_, source: string) => decodeSource(source))
}

interface SourceMap {
  readonly sources: readonly string[]
}

function parseMap(base64: string): SourceMap {
  return JSON.parse(Buffer.from(base64, 'base64').toString()) as SourceMap
}

function withoutQuery(url: string): string {
  return url.replace(/\?.*$/, '')
}

function decodeSource(source: string): string {
  try {
    return decodeURIComponent(source)
  } catch {
    return source
  }
}
