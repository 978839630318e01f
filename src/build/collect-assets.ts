import type { Metafile, PartialMessage, PluginBuild } from 'esbuild'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { readProjectBytes, type ProjectFolder } from '../definition/index.ts'
import type { Diagnostic } from '../kit/index.ts'
import { makeFileArtifact, type Artifact } from '../release/index.ts'
import { sourceLoader } from './transform-source.ts'
import { artifactScheme } from './link-artifacts.ts'
import { makeDiagnostic, makePlace } from './make-diagnostic.ts'

/** Files that the project's code references by `new URL('./x', import.meta.url)`. They are part of the release. */
export interface Assets {
  /** Their names relative to the root, including missing files. */
  readonly names: ReadonlySet<string>
  /** By hash. */
  readonly artifacts: ReadonlyMap<string, Artifact>
}

export const noAssets: Assets = { names: new Set(), artifacts: new Map() }

export const assetLimits = { fileBytes: 10 * 1024 ** 2, releaseBytes: 32 * 1024 ** 2 } as const

/** Marks an esbuild error as one about such a file, for `checkErrors`. */
export interface AssetError {
  readonly isOutside: boolean
}

export interface AssetSink {
  readonly names: Set<string>
  readonly artifacts: Map<string, Artifact>
}

/** Returns the assets that the outputs of a bundle import. */
export function pickAssets({ outputs }: Metafile, { artifacts }: Assets): readonly Artifact[] {
  const hashes = Object.values(outputs).flatMap(({ imports }) =>
    imports.flatMap(({ path: to, external }) =>
      external && to.startsWith(artifactScheme) ? [to.slice(artifactScheme.length)] : [],
    ),
  )
  return [...new Set(hashes)].flatMap((hash) => artifacts.get(hash) ?? [])
}

/** Returns about how many bytes a file has. */
export function sizeOf({ content }: Artifact): number {
  return content.length * 0.75 // base64
}

export function checkAssets(artifacts: readonly Artifact[]): Diagnostic[] {
  const bytes = artifacts.reduce((sum, one) => sum + sizeOf(one), 0)
  if (bytes <= assetLimits.releaseBytes) return []
  const parameters = { size: Math.round(bytes / 1024 ** 2), limit: assetLimits.releaseBytes / 1024 ** 2 }
  return [makeDiagnostic('WP_BUILD_FILES_SIZE', makePlace('waypost.yml', 1), { parameters })]
}

interface Source {
  readonly folder: ProjectFolder
  /** Relative to the root. */
  readonly name: string
  readonly text: string
}

export interface Rewritten {
  readonly text: string
  readonly errors: readonly PartialMessage[]
}

const written = /\bnew\s+URL\(\s*(?<literal>(['"`])(?<to>\.\.?\/[^'"`$\\\n]*)\2)\s*,\s*import\.meta\.url\s*,?\s*\)/g

/** Replaces the URLs of files in a source by imports of artifacts that export where the server stored the file. */
export async function rewriteFileUrls(
  { transform }: PluginBuild['esbuild'],
  { folder, name, text }: Source,
  sink: AssetSink,
): Promise<Rewritten> {
  const loader = sourceLoader(name)
  if (loader === undefined || !text.includes('import.meta.url')) return { text, errors: [] }
  const found = [...text.matchAll(written)].map((match, index) => ({ match, variable: `__waypost_file_${index}__` }))
  if (found.length === 0) return { text, errors: [] }
  const replaced = replaceAll(text, found)
  // Matches in comments and strings are not replaced by `define`.
  const define = Object.fromEntries(found.map(({ variable }) => [variable, `"${variable} is code"`]))
  const checked = await transform(replaced, { loader, define, logLevel: 'silent' }).catch(() => undefined)
  if (checked === undefined) return { text, errors: [] } // the build reports the syntax error
  const code = found.filter(({ variable }) => checked.code.includes(`${variable} is code`))
  const errors: PartialMessage[] = []
  const imports: string[] = []
  for (const { match, variable } of code) {
    const result = addAsset(match.groups!['to']!, { folder, name }, sink)
    if ('hash' in result) imports.push(`import ${variable} from "${artifactScheme}${result.hash}"`)
    else errors.push({ ...result, location: locate(name, text, match) })
  }
  return { text: `${replaceAll(text, code)}\n${imports.join('\n')}`, errors }
}

type Match = RegExpExecArray
type Found = { readonly match: Match; readonly variable: string }

/** Keeps lines and columns of the remaining text, so that source maps stay valid. */
function replaceAll(text: string, found: readonly Found[]): string {
  let end = 0
  const parts = found.map(({ match, variable }) => {
    const lines = match[0].split('\n')
    const call = `new URL(${variable})`
    const filled =
      lines.length === 1
        ? call.padEnd(match[0].length)
        : `${call}${'\n'.repeat(lines.length - 1)}${' '.repeat(lines.at(-1)!.length)}`
    const part = text.slice(end, match.index) + filled
    end = match.index + match[0].length
    return part
  })
  return parts.join('') + text.slice(end)
}

function addAsset(
  to: string,
  { folder, name }: Pick<Source, 'folder' | 'name'>,
  { names, artifacts }: AssetSink,
): { readonly hash: string } | { readonly text: string; readonly detail: AssetError } {
  const reject = (text: string, isOutside = false) => ({ text, detail: { isOutside } })
  let file: string
  try {
    const url = new URL(to, pathToFileURL(path.join(folder.realRoot, name)))
    if (url.search !== '' || url.hash !== '') return reject('it has a query')
    file = path.relative(folder.realRoot, fileURLToPath(url)).split(path.sep).join('/')
  } catch {
    return reject('it is not the path of a file')
  }
  names.add(file)
  if (file.split('/').some((part) => part.startsWith('.') && part !== '..'))
    return reject('its path has a name that begins with a dot')
  const read = readProjectBytes(folder, file, assetLimits.fileBytes)
  if ('bytes' in read) {
    const artifact = makeFileArtifact(path.posix.basename(file), read.bytes)
    artifacts.set(artifact.hash, artifact)
    return { hash: artifact.hash }
  }
  if (read.problem === 'outside') return reject('it is outside the project', true)
  return reject(read.problem === 'refused' ? read.reason : 'it does not exist')
}

function locate(file: string, text: string, match: Match): NonNullable<PartialMessage['location']> {
  const literal = match.groups!['literal']!
  const index = match.index + match[0].indexOf(literal)
  const before = text.slice(0, index).split('\n')
  const lineText = text.split('\n')[before.length - 1]!.replace(/\r$/, '')
  const column = Buffer.byteLength(before.at(-1)!)
  return { file, line: before.length, column, length: Buffer.byteLength(literal), lineText }
}
