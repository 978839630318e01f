import type { IncludeSite } from '../kit/index.ts'
import type { Definition, Route } from './definition.ts'
import type { Node, ScalarNode } from './node.ts'
import { parseSource } from './parse-source.ts'
import { readProjectFile, type ProjectFolder, type FileProblem } from './read-file.ts'
import { positionOf, type Report } from './report.ts'
import type { EditedFile } from './edit/source-tree.ts'
import type { Source, Span } from './source.ts'
import { maxDepth } from './check-yaml.ts'

/** The state of one run of `loadDefinition`. */
export interface LoadContext {
  readonly folder: ProjectFolder
  readonly report: Report
  /** All requested files in order, including missing ones. */
  readonly files: Set<string>
  readonly sources: Map<string, Source | FileProblem>
  /** Action files that were looked up. */
  readonly actionFiles: Set<string>
  readonly cache: SourceCache
  /** Files that may differ from the cache; undefined if any may. */
  readonly changed?: ReadonlySet<string> | undefined
  /** Texts that replace files on disk, by file. */
  readonly texts?: ReadonlyMap<string, string | undefined> | undefined
  /** The files with code, if they are known without reading the disk. */
  readonly code?: ReadonlySet<string> | undefined
  /** Texts and keys that contain `${env.`. */
  readonly references: TextWithReference[]
  /** Whole files that were included, for the next run. */
  readonly composed: Map<string, ComposedFile>
  /** How many includes were followed. */
  readonly includes: { count: number }
  /** The remaining number of values. Aliases and includes can multiply the contents of files. */
  readonly budget: { remaining: number; repeated: number; characters: number; parts: number }
}

export interface TextWithReference {
  /** Missing for a key, where references are not allowed. */
  readonly node?: ScalarNode
  readonly text: string
  readonly at: Span
}

export const maxValues = 1_000_000

/** Values that aliases repeat: a few lines of nested aliases can stand for millions. */
export const maxRepeated = 20_000

const maxCharacters = 8 * 1024 * 1024

/** Lines, commas, brackets and similar tokens of all files; the parser takes about a second for this many. */
const maxParts = 200_000

/** Texts by file, relative to the project's root with forward slashes. */
export type Texts = ReadonlyMap<string, string>

export function createLoadContext(
  given: Pick<LoadContext, 'folder' | 'report' | 'cache' | 'changed' | 'texts' | 'code'>,
): LoadContext {
  return {
    ...given,
    files: new Set(),
    sources: new Map(),
    actionFiles: new Set(),
    references: [],
    composed: new Map(),
    includes: { count: 0 },
    budget: { remaining: maxValues, repeated: maxRepeated, characters: maxCharacters, parts: maxParts },
  }
}

/** Parsed files by name, for callers that load the same project repeatedly. */
export interface SourceCache {
  readonly sources: Map<string, Source>
  /** Files that are reached through a symbolic link. A watcher does not see them change. */
  readonly linked: Set<string>
  /** Action files that exist. */
  readonly actionFiles: Set<string>
  /** Files that edits parsed, the text that was used last first. */
  readonly edited: Map<string, readonly EditedFile[]>
  /** Whole files that were included, without problems and includes of their own, by their file and place. */
  composed: ReadonlyMap<string, ComposedFile>
  /** The routes that classes described without problems, and the named schemas that they could refer to. */
  described: {
    readonly schemas: string
    readonly named: Definition['schemas']
    readonly routes: ReadonlyMap<string, DescribedRoute>
  }
}

/** The values of a file that was included as a whole. */
export interface ComposedFile {
  readonly source: Source
  readonly node: Node
  readonly references: readonly TextWithReference[]
  /** How many values it has, and how many of them are repeated by aliases. */
  readonly values: number
  readonly repeated: number
}

/** What the classes of the methods of a route describe. */
export interface DescribedRoute {
  /** The methods and their descriptions. A description of an action that did not change is the same object. */
  readonly parts: readonly unknown[]
  readonly route: Route
}

export function makeSourceCache(): SourceCache {
  return {
    sources: new Map(),
    linked: new Set(),
    actionFiles: new Set(),
    edited: new Map(),
    composed: new Map(),
    described: { schemas: '', named: {}, routes: new Map() },
  }
}

/**
 * Returns a cache with what another one has of these texts.
 * @param texts those of all files whose texts were given; other files were read
 */
export function copySources(cache: SourceCache, texts: Texts): SourceCache {
  const isSame = ([file, { text }]: readonly [string, Source]) => (texts.get(file) ?? text) === text
  return {
    ...cache,
    sources: new Map([...cache.sources].filter(isSame)),
    linked: new Set(cache.linked),
    actionFiles: new Set(cache.actionFiles),
    edited: new Map(cache.edited),
  }
}

/** Returns the parsed file. Each run reads and parses a file once. */
export function loadSource(
  loading: LoadContext,
  file: string,
  includedAt: readonly IncludeSite[],
): Source | FileProblem {
  const known = loading.sources.get(file)
  if (known !== undefined) return known
  loading.files.add(file)
  const content = loadText(loading, file)
  const source = 'text' in content ? parse(loading, { file, text: content.text, includedAt }) : content
  loading.sources.set(file, source)
  return source
}

/** Removes files from the cache that this run did not read, because later changes to them would go unnoticed. */
export function pruneCache({ cache, sources, actionFiles, composed }: LoadContext): void {
  cache.composed = composed
  for (const file of cache.sources.keys()) if (!sources.has(file)) cache.sources.delete(file)
  for (const file of cache.linked) if (!sources.has(file)) cache.linked.delete(file)
  for (const file of cache.actionFiles) if (!actionFiles.has(file)) cache.actionFiles.delete(file)
}

/** Returns a given text, else an unchanged cached file, else reads the file. */
function loadText(
  { folder, texts, changed, cache }: LoadContext,
  file: string,
): { readonly text: string } | FileProblem {
  const given = texts?.get(file)
  if (given !== undefined) return { text: given }
  if (texts?.has(file)) return { problem: 'missing' }
  const known = cache.sources.get(file)
  if (known !== undefined && changed?.has(file) === false && !cache.linked.has(file)) return known
  const content = readProjectFile(folder, file)
  if ('text' in content && content.isLinked) cache.linked.add(file)
  else cache.linked.delete(file)
  return content
}

interface Content {
  readonly file: string
  readonly text: string
  readonly includedAt: readonly IncludeSite[]
}

function parse({ report, cache, budget }: LoadContext, { file, text, includedAt }: Content): Source | FileProblem {
  budget.characters -= text.length
  if (budget.characters < 0) return { problem: 'refused', reason: 'the files of the definition are larger than 8 MB' }
  budget.parts -= estimateParts(text)
  if (budget.parts < 0) return { problem: 'refused', reason: 'the definition has more than 200,000 lines and items' }
  const cached = cache.sources.get(file)
  if (cached?.text === text) return cached
  try {
    const source = parseSource(file, text, { includedAt, report, before: cached })
    // A file with problems is parsed again so that they are reported again.
    if (source.content === undefined) cache.sources.delete(file)
    else cache.sources.set(file, source)
    return source
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { problem: 'refused', reason: `values are nested more than ${maxDepth} levels deep` }
  }
}

/** Whether texts have more lines and items than a definition may have. Parsing more would take seconds. */
export function hasTooManyParts(texts: Iterable<string>): boolean {
  let parts = 0
  for (const text of texts) if ((parts += estimateParts(text)) > maxParts) return true
  return false
}

/** Returns the location of a span as an include site. */
export function includeSiteOf(at: Span): IncludeSite {
  return { file: at.origin.source.file, ...positionOf(at) }
}

const [newline, space, comma, colon] = [0x0a, 0x20, 0x2c, 0x3a]
const [openList, openMap, tag] = [0x5b, 0x7b, 0x21]

/** Estimates the number of lines, items and values of a text. Parsing time grows with them. */
export function estimateParts(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === newline || code === comma || code === openList || code === openMap) count += 1
    else if (code === colon && text.charCodeAt(index + 1) === space) count += 1
    // Each unknown tag causes a parser warning with a stack.
    else if (code === tag && text.charCodeAt(index - 1) === space) count += 3
  }
  return count
}
