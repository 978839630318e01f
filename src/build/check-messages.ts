import type { Message } from 'esbuild'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { nearest, readJsonFile, type Diagnostic } from '../kit/index.ts'
import type { AssetError } from './collect-assets.ts'
import type { ModuleResourceWarning } from './find-module-resources.ts'
import type { ProcessEnvWarning } from './find-process-env.ts'
import type { RejectedFile } from './guard-sources.ts'
import { loadTsconfig, type Tsconfig } from './load-tsconfig.ts'
import { makeDiagnostic, makePlace, type Place } from './make-diagnostic.ts'
import { isPackagePath, projectPath } from './project-path.ts'

/** Converts esbuild errors to diagnostics. */
export async function checkErrors(
  root: string,
  messages: readonly Message[],
  { aliases }: Pick<Tsconfig, 'aliases'> = loadTsconfig(root),
): Promise<Diagnostic[]> {
  return Promise.all(
    messages.map(async (message) => {
      const place = placeOf(root, message)
      const detail = (message.detail ?? {}) as Partial<RejectedFile & AssetError>
      if (detail.isOutside !== undefined) return describeAssetError(message, place, detail.isOutside)
      if (detail.file !== undefined) return describeRejected(message, place, detail.file)
      const name = /^Could not resolve "(.+)"$/s.exec(message.text)?.[1]
      const other = /^No loader is configured for .* files: (.+)$/s.exec(message.text)?.[1]
      if (other !== undefined)
        return makeDiagnostic('WP_BUILD_FILE_KIND', place, { parameters: { name: markedIn(place) ?? other } })
      if (name === undefined) return makeDiagnostic('WP_BUILD_SOURCE', place, { parameters: { text: message.text } })
      const hint = await makeImportHint(root, { importer: place.file, name, aliases })
      return makeDiagnostic('WP_BUILD_IMPORT_MISSING', place, { parameters: { name }, hint })
    }),
  )
}

function describeAssetError({ text: reason }: Message, place: Place, isOutside: boolean): Diagnostic {
  const name = markedIn(place)!
  if (isOutside) return makeDiagnostic('WP_BUILD_OUTSIDE', place, { parameters: { name } })
  const hint =
    'A release contains the regular files of the project that the code refers to with new URL, up to 10 MB each'
  return makeDiagnostic('WP_BUILD_FILE_REFUSED', place, { parameters: { name, reason }, hint })
}

function describeRejected({ text: reason, location }: Message, place: Place, file: string): Diagnostic {
  if (location === null)
    return makeDiagnostic('WP_BUILD_FILE_REFUSED', makePlace(file, 1), { parameters: { name: file, reason } })
  const name = markedIn(place) ?? file
  return makeDiagnostic('WP_BUILD_FILE_REFUSED', place, { parameters: { name, reason } })
}

/** Returns the text at a place, without its quotes. */
function markedIn({ source, range: { start, end } }: Place): string | undefined {
  return source?.slice(start.column - 1, end.column - 1).replace(/^(['"`])(.*)\1$/, '$2')
}

/** Converts esbuild warnings about the project's own files. Users cannot fix those of packages. */
export function checkWarnings(root: string, messages: readonly Message[]): Diagnostic[] {
  return messages
    .map((message) => ({ message, place: placeOf(root, message) }))
    .filter(({ place }) => !isPackagePath(place.file))
    .map(({ message: { text, detail }, place }) => {
      const { processEnv, opens } = (detail ?? {}) as Partial<ProcessEnvWarning & ModuleResourceWarning>
      if (processEnv) return makeDiagnostic('WP_BUILD_PROCESS_ENV', place)
      if (opens !== undefined) return makeDiagnostic('WP_BUILD_MODULE_RESOURCE', place, { parameters: { opens } })
      return makeDiagnostic('WP_BUILD_SOURCE_WARNING', place, { parameters: { text } })
    })
}

/** esbuild counts columns from 0, in UTF-8 bytes. */
function placeOf(root: string, { location }: Message): Place {
  if (location === null) return makePlace('waypost.yml', 1)
  const line = Buffer.from(location.lineText)
  const before = line.subarray(0, location.column).toString()
  const marked = line.subarray(location.column, location.column + location.length).toString()
  return makePlace(projectPath(root, path.resolve(root, location.file)), location.line, {
    column: before.length + 1,
    length: marked.length,
    source: location.lineText,
  })
}

interface MissingImport {
  readonly importer: string
  readonly name: string
  readonly aliases: readonly string[]
}

/** Never advises to install a name that a project may mean otherwise: it may be a package of a stranger. */
async function makeImportHint(root: string, { importer, name, aliases }: MissingImport): Promise<string | undefined> {
  if (name.startsWith('.')) {
    const folder = path.posix.dirname(name)
    const near = nearest(path.posix.basename(name), await listFolder(path.join(root, path.dirname(importer), folder)))
    return near && `Did you mean "${folder}/${near}"?`
  }
  const alias = aliases.find((pattern) => isMatch(pattern, name))
  if (alias !== undefined) return `"${alias}" in "paths" of tsconfig.json does not match a file`
  if (/^[@~]\//.test(name)) return 'Use a relative path, or declare it in "paths" of tsconfig.json'
  const [top = ''] = name.split('/', 1)
  if ((await listFolder(root)).includes(top)) return `Use a relative path: "${relativeTo(importer, name)}"`
  const packageName = name.split('/', name.startsWith('@') ? 2 : 1).join('/')
  const near = nearest(packageName, await listDependencies(root))
  if (near !== undefined && near !== packageName) return `Did you mean "${near}"?`
  return `Is "${packageName}" a package? Then install it: npm install ${packageName}`
}

function isMatch(pattern: string, name: string): boolean {
  const [start = '', end] = pattern.split('*')
  return end === undefined ? name === pattern : name.startsWith(start) && name.endsWith(end)
}

function relativeTo(importer: string, name: string): string {
  const to = path.posix.relative(path.posix.dirname(importer), name)
  return to.startsWith('.') ? to : `./${to}`
}

/** Warns about options that change what code does for `tsc`, but not in a release. */
export function checkTsconfig({ ignored }: Tsconfig): Diagnostic[] {
  return ignored.map((name) =>
    makeDiagnostic('WP_BUILD_TSCONFIG', makePlace('tsconfig.json', 1), { parameters: { name } }),
  )
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch {
    return []
  }
}

async function listDependencies(root: string): Promise<string[]> {
  try {
    const manifest = readJsonFile(path.join(root, 'package.json')) as Record<string, object>
    return Object.keys({ ...manifest['dependencies'], ...manifest['devDependencies'] })
  } catch {
    return []
  }
}
