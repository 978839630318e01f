import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { isBuiltin, registerHooks, setSourceMapsSupport, type LoadHookSync, type ResolveHookSync } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf, sha256, urlOfModule } from '../kit/index.ts'
import type { Artifact } from './manifest.ts'
import { errors } from './errors.ts'

// Both are written by the builder (src/build/link-artifacts.ts), and a newer server must read what an older one wrote.
const scheme = 'waypost-artifact:'
const aliasLine = /^\/\*waypost-alias:([0-9a-f]{64})\*\//

// URL of a loaded artifact. Node looks up source maps for schemes of letters with `://` only, and resolves their sources
// against it: a stack names `waypost:///src/todo/insert.ts`.
const urlStart = 'waypost:///'

/** Begins an artifact that is a file: its name, and behind it a module whose default export is the content in base64. */
const fileLine = /^\/\*waypost-file:([\w.-]+)\*\/export default "/

// Node has one module registry for a process and never frees what it loaded, so what feeds it is one for a process too.
const contents = new Map<string, string>()
const aliases = new Map<string, string>()
/** Where the artifacts that are files were written, by hash. */
const files = new Map<string, string>()
let filesFolder: string | undefined
let isHooked = false

/** The URL of this module, for a child process that loads artifacts and nothing else of the server. */
export const artifactLoader: string = urlOfModule('src/release/load-artifacts').href

/**
 * Makes artifacts importable, for good. Register every artifact of a release before the first is imported: they import
 * one another by hash.
 */
export function registerArtifacts(artifacts: Iterable<Artifact>): void {
  if (!isHooked) {
    isHooked = true
    setSourceMapsSupport(true)
    registerHooks({ resolve, load })
  }
  for (const { hash, content } of artifacts) {
    if (files.has(hash)) continue
    contents.set(hash, content)
    const alias = aliasLine.exec(content)?.[1]
    if (alias !== undefined && sha256(content) === hash) aliases.set(alias, hash)
  }
}

/**
 * Imports a registered artifact and gives its module; the same hash is evaluated once in a process. Its content is
 * checked against its name before any of it runs.
 *
 * @throws WP_RUNTIME_ARTIFACT_MISSING, WP_RUNTIME_ARTIFACT_CORRUPT, WP_RUNTIME_ARTIFACT_IMPORT, or what the module throws
 */
export async function importArtifact(hash: string): Promise<unknown> {
  return import(scheme + hash)
}

/** A stack with the project's files named as the project names them: `src/todo/insert.ts:8:35`. */
export function resolveStack(stack: string): string {
  return stack.replace(/waypost:\/\/\/([^\s()]+)/g, (_, source: string) => decodeSource(source))
}

const resolve: ResolveHookSync = (specifier, context, next) => {
  if (specifier.startsWith(scheme))
    return { url: urlOf(specifier.slice(scheme.length)), format: 'module', shortCircuit: true }
  if (!isArtifact(context.parentURL) || isBuiltin(specifier)) return next(specifier, context)
  const face = faces.get(specifier)
  if (face === undefined) throw errors.WP_RUNTIME_ARTIFACT_IMPORT({ name: specifier })
  return next(face, context)
}

const load: LoadHookSync = (url, context, next) => {
  if (!url.startsWith(urlStart)) return next(url, context)
  const hash = url.slice(urlStart.length)
  const source = contents.get(hash)
  if (source === undefined) throw errors.WP_RUNTIME_ARTIFACT_MISSING({ hash })
  if (sha256(source) !== hash) throw errors.WP_RUNTIME_ARTIFACT_CORRUPT({ hash })
  return { format: 'module', source: fileLine.test(source) ? writeFile(hash, source) : source, shortCircuit: true }
}

/** Makes the artifact of a file that code names by `new URL('./NAME', import.meta.url)`. */
export function makeFileArtifact(name: string, bytes: Uint8Array): Artifact {
  const plain = name.replaceAll(/[^\w.-]/g, '_').slice(-100)
  const content = `/*waypost-file:${plain}*/export default "${Buffer.from(bytes).toString('base64')}"\n`
  return { hash: sha256(content), content }
}

const keptFreshMs = 12 * 3_600_000

/** Writes a file where code can read it as long as this process runs. @returns a module that exports its URL */
function writeFile(hash: string, content: string): string {
  const [start, name] = fileLine.exec(content)!
  const file = path.join((filesFolder ??= makeFilesFolder()), hash, name!)
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, Buffer.from(content.slice(start.length, content.lastIndexOf('"')), 'base64'))
  } catch (error) {
    throw errors.WP_RELEASE_FILE({ name: name!, folder: tmpdir(), reason: messageOf(error) }, { cause: error })
  }
  files.set(hash, file)
  contents.delete(hash)
  return `export default ${JSON.stringify(pathToFileURL(file).href)}`
}

/** A folder of this process alone, which is removed at its end. */
function makeFilesFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'waypost-files-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  // Systems remove what nobody touched for days from there.
  setInterval(() => touchFiles(), keptFreshMs).unref()
  return folder
}

function touchFiles(): void {
  const now = new Date()
  for (const file of files.values()) {
    try {
      utimesSync(file, now, now)
    } catch {
      // Removed by somebody: the code that reads it says so.
    }
  }
}

function urlOf(name: string): string {
  const hash = aliases.get(name) ?? name
  if (!contents.has(hash) && !files.has(hash)) throw errors.WP_RUNTIME_ARTIFACT_MISSING({ hash })
  return urlStart + hash
}

// `require` of an artifact's banner is made for the path of the Node binary, having none of its own.
const requirerUrl = pathToFileURL(process.execPath).href

function isArtifact(url: string | undefined): boolean {
  return url !== undefined && (url.startsWith(urlStart) || url === requirerUrl)
}

// The server's own copy, as sources or built, so that `instanceof` holds on both sides.
const faces: ReadonlyMap<string, string> = new Map(
  Object.entries({ waypost: 'src/index', 'waypost/sql': 'src/sql', 'waypost/testing': 'src/testing/index' }).map(
    ([name, module]) => [name, urlOfModule(module).href],
  ),
)

function decodeSource(source: string): string {
  try {
    return decodeURIComponent(source)
  } catch {
    return source
  }
}
