import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { isBuiltin, registerHooks, setSourceMapsSupport, type LoadHookSync, type ResolveHookSync } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf, publicModules, sha256, urlOfModule } from '../kit/index.ts'
import type { Artifact } from './manifest.ts'
import { errors } from './errors.ts'

/** For the process that loads modules to check them: it imports this module alone. */
export { resolveStack } from './artifact-urls.ts'
import { hashOfUrl, isArtifactUrl, locateSources, makeArtifactUrl, noteSources, resolveStack } from './artifact-urls.ts'
import { watchResources } from './module-resources.ts'

// Both are written by the builder (src/build/link-artifacts.ts). A newer server must read what an older one wrote.
const scheme = 'waypost-artifact:'
const aliasPattern = /^\/\*waypost-alias:([0-9a-f]{64})\*\//

/** The beginning of a file artifact: the file name, then a module whose default export is the content in base64. */
const filePattern = /^\/\*waypost-file:([\w.-]+)\*\/export default "/

// Node has one module registry for each process and never frees modules, so these maps are global too.
const contents = new Map<string, string>()
const aliases = new Map<string, string>()
/** The paths of written file artifacts, by hash. */
const files = new Map<string, string>()
/** Artifacts that are never forgotten, because no use of them ends: those of migrations. */
const permanent = new Set<string>()
/** How often artifacts are loaded again, because their modules were closed. Part of their URLs. */
const reloads = new Map<string, number>()
/** The URLs of modules that were imported by themselves. */
const imported = new Set<string>()
/** Artifacts whose modules Node keeps, also those that others import. */
const loaded = new Set<string>()
let filesFolder: string | undefined
let isHooked = false

/** The URL of this module, for a child process that loads artifacts and no other part of the server. */
export const artifactLoader: string = urlOfModule('src/release/load-artifacts').href

/**
 * Makes artifacts importable, permanently if they are in no use (`useArtifacts`). Register all artifacts of a release before importing the
 * first: they import one another by hash.
 */
export function registerArtifacts(artifacts: Iterable<Artifact>, { isInUse = false } = {}): void {
  if (!isHooked) {
    isHooked = true
    setSourceMapsSupport(true)
    registerHooks({ resolve, load })
  }
  for (const { hash, content } of artifacts) {
    if (files.has(hash)) continue
    if (!isInUse && !contents.has(hash)) permanent.add(hash)
    contents.set(hash, content)
    noteSources({ hash, content })
    const alias = aliasPattern.exec(content)?.[1]
    if (alias !== undefined && sha256(content) === hash) aliases.set(alias, hash)
  }
}

/**
 * Imports a registered artifact and returns its module. A process evaluates each hash once. The content is checked
 * against its hash before it runs.
 *
 * @throws WP_RUNTIME_ARTIFACT_MISSING, WP_RUNTIME_ARTIFACT_CORRUPT, WP_RUNTIME_ARTIFACT_IMPORT, or the error of the
 * module
 */
export async function importArtifact(hash: string): Promise<unknown> {
  const stopWatching = watchResources()
  try {
    const module: unknown = await import(scheme + hash)
    imported.add(urlOfArtifact(hash))
    return module
  } finally {
    stopWatching()
  }
}

/** Whether importing an artifact runs no code, because its module was evaluated before. */
export function isImported(hash: string): boolean {
  return imported.has(urlOfArtifact(hash))
}

/** Frees the contents of artifacts that are no longer imported. Their evaluated modules stay in Node's registry. */
export function forgetArtifacts(hashes: Iterable<string>): void {
  for (const hash of hashes) {
    if (permanent.has(hash)) continue
    const alias = aliasPattern.exec(contents.get(hash) ?? '')?.[1]
    if (alias !== undefined && aliases.get(alias) === hash) aliases.delete(alias)
    contents.delete(hash)
  }
}

/** Whether the module of an artifact was loaded, which Node keeps from then on. */
export function wasLoaded(hash: string): boolean {
  return loaded.has(hash)
}

/**
 * Makes the next import of artifacts evaluate them again. Artifacts that import one of them must be among them.
 */
export function reloadArtifacts(hashes: Iterable<string>): void {
  for (const hash of hashes) reloads.set(hash, (reloads.get(hash) ?? 0) + 1)
}

/** Returns the URL of the module of an artifact. */
export function urlOfArtifact(hash: string): string {
  return makeArtifactUrl(hash, reloads.get(hash))
}

const resolve: ResolveHookSync = (specifier, context, next) => {
  if (specifier.startsWith(scheme))
    return { url: urlOf(specifier.slice(scheme.length)), format: 'module', shortCircuit: true }
  if (!isArtifact(context.parentURL) || isBuiltin(specifier)) return next(specifier, context)
  const publicModule = publicModules.get(specifier)
  if (publicModule === undefined) throw errors.WP_RUNTIME_ARTIFACT_IMPORT({ name: specifier, place: describeCaller() })
  return next(publicModule, context)
}

/** Names the place of a `require` or `require.resolve` that runs, which is in a package if the project has none. */
function describeCaller(): string {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 30 // behind the frames of Node
  const stack = resolveStack(new Error('Where').stack ?? '')
  Error.stackTraceLimit = stackTraceLimit
  const place = /^ +at (?:.*\()?((?:node_modules|[\w@.-]+)\/[^():]+:\d+)/m.exec(stack)?.[1]
  return place === undefined ? '' : ` (${place})`
}

const load: LoadHookSync = (url, context, next) => {
  const hash = hashOfUrl(url)
  if (hash === undefined) return next(url, context)
  const written = files.get(hash)
  if (written !== undefined) return { format: 'module', source: exportUrl(written), shortCircuit: true }
  const source = contents.get(hash)
  if (source === undefined) throw errors.WP_RUNTIME_ARTIFACT_MISSING({ hash })
  if (sha256(source) !== hash) throw errors.WP_RUNTIME_ARTIFACT_CORRUPT({ hash })
  loaded.add(hash)
  const content = filePattern.test(source) ? writeFile(hash, source) : locateSources({ hash, content: source })
  return { format: 'module', source: content, shortCircuit: true }
}

/** Creates the artifact of a file that code references by `new URL('./NAME', import.meta.url)`. */
export function makeFileArtifact(name: string, bytes: Uint8Array): Artifact {
  const plain = name.replaceAll(/[^\w.-]/g, '_').slice(-100)
  const content = `/*waypost-file:${plain}*/export default "${Buffer.from(bytes).toString('base64')}"\n`
  return { hash: sha256(content), content }
}

const touchIntervalMs = 12 * 3_600_000

/**
 * Writes a file that code can read while this process runs.
 * @returns a module that exports its URL
 */
function writeFile(hash: string, content: string): string {
  const [start, name] = filePattern.exec(content)!
  const file = path.join((filesFolder ??= makeFilesFolder()), hash, name!)
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, Buffer.from(content.slice(start.length, content.lastIndexOf('"')), 'base64'))
  } catch (error) {
    rmSync(path.dirname(file), { recursive: true, force: true }) // a part would keep the disk full
    throw errors.WP_RELEASE_FILE({ name: name!, folder: tmpdir(), reason: messageOf(error) }, { cause: error })
  }
  files.set(hash, file)
  contents.delete(hash)
  return exportUrl(file)
}

/** Returns the module of a file artifact. */
function exportUrl(file: string): string {
  return `export default ${JSON.stringify(pathToFileURL(file).href)}`
}

/**
 * Returns the path of the copy of a registered file artifact, which is written when it is needed first.
 * @throws WP_RUNTIME_ARTIFACT_MISSING, WP_RUNTIME_ARTIFACT_CORRUPT, WP_RELEASE_FILE
 */
export function pathOfFileArtifact(hash: string): string {
  const known = files.get(hash)
  if (known !== undefined) return known
  const content = contents.get(hash)
  if (content === undefined || !filePattern.test(content)) throw errors.WP_RUNTIME_ARTIFACT_MISSING({ hash })
  if (sha256(content) !== hash) throw errors.WP_RUNTIME_ARTIFACT_CORRUPT({ hash })
  writeFile(hash, content)
  return files.get(hash)!
}

/** Creates a folder for this process that is removed on exit. */
function makeFilesFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'waypost-files-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  // Operating systems remove files from there that were not used for days.
  setInterval(() => touchFiles(), touchIntervalMs).unref()
  return folder
}

function touchFiles(): void {
  const now = new Date()
  for (const file of files.values()) {
    try {
      utimesSync(file, now, now)
    } catch {
      // The file was removed: the code that reads it reports the error.
    }
  }
}

function urlOf(name: string): string {
  const hash = aliases.get(name) ?? name
  if (!contents.has(hash) && !files.has(hash)) throw errors.WP_RUNTIME_ARTIFACT_MISSING({ hash })
  return urlOfArtifact(hash)
}

// `require` in an artifact's banner is created with the path of the Node binary, because artifacts have no path.
const requirerUrl = pathToFileURL(process.execPath).href

function isArtifact(url: string | undefined): boolean {
  return url !== undefined && (isArtifactUrl(url) || url === requirerUrl)
}
