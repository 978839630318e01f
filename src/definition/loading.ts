import type { IncludeSite } from '../kit/index.ts'
import { countParts } from './count-parts.ts'
import type { ScalarNode } from './node.ts'
import { parseSource } from './parse-source.ts'
import { readInside, type Folder, type Refusal } from './read-file.ts'
import { positionOf, type Report } from './report.ts'
import type { Source, Span } from './source.ts'
import { maxDepth } from './check-yaml.ts'

/** What one run of `loadDefinition` has read and found so far. */
export interface Loading {
  readonly folder: Folder
  readonly report: Report
  /** Every file that was wanted, in order, also those that are missing. */
  readonly files: Set<string>
  readonly sources: Map<string, Source | Refusal>
  /** Files of actions that were looked for. */
  readonly actionFiles: Set<string>
  readonly cache: SourceCache
  /** Files that may differ from what the cache holds; undefined if any may. */
  readonly changed?: ReadonlySet<string> | undefined
  /** Texts that count instead of what is on disk, by file. */
  readonly texts?: Texts | undefined
  /** Texts and keys in which `${env.` occurs. */
  readonly references: TextWithReference[]
  /** Values that may still be made: aliases and includes multiply what stands in the files. */
  readonly budget: { left: number; characters: number; parts: number }
}

export interface TextWithReference {
  /** Missing for a key, where no reference may stand. */
  readonly node?: ScalarNode
  readonly text: string
  readonly at: Span
}

export const maxValues = 1_000_000

const maxCharacters = 8 * 1024 * 1024

/** Lines, commas, brackets and the like in all files together: what takes the parser about a second. */
const maxParts = 200_000

/** Texts by file, relative to the project's root with forward slashes. */
export type Texts = ReadonlyMap<string, string>

export function makeLoading(given: Pick<Loading, 'folder' | 'report' | 'cache' | 'changed' | 'texts'>): Loading {
  return {
    ...given,
    files: new Set(),
    sources: new Map(),
    actionFiles: new Set(),
    references: [],
    budget: { left: maxValues, characters: maxCharacters, parts: maxParts },
  }
}

/** Files as they were parsed, by name; whoever loads the same project again and again keeps one. */
export interface SourceCache {
  readonly sources: Map<string, Source>
  /** Those of them to which a link leads: nobody who watches the project sees them change. */
  readonly linked: Set<string>
  /** Files of actions that were there. */
  readonly actionFiles: Set<string>
}

export function makeSourceCache(): SourceCache {
  return { sources: new Map(), linked: new Set(), actionFiles: new Set() }
}

/** The parsed file, read and parsed once a run. */
export function loadSource(loading: Loading, file: string, includedAt: readonly IncludeSite[]): Source | Refusal {
  const known = loading.sources.get(file)
  if (known !== undefined) return known
  loading.files.add(file)
  const content = loadText(loading, file)
  const source = 'text' in content ? parse(loading, { file, text: content.text, includedAt }) : content
  loading.sources.set(file, source)
  return source
}

/** What this run did not come to may change without being read: it is not known any more. */
export function forgetUnread({ cache, sources, actionFiles }: Loading): void {
  for (const file of cache.sources.keys()) if (!sources.has(file)) cache.sources.delete(file)
  for (const file of cache.linked) if (!sources.has(file)) cache.linked.delete(file)
  for (const file of cache.actionFiles) if (!actionFiles.has(file)) cache.actionFiles.delete(file)
}

/** A text that is given counts first, then what is known to be unchanged. */
function loadText({ folder, texts, changed, cache }: Loading, file: string): { readonly text: string } | Refusal {
  const given = texts?.get(file)
  if (given !== undefined) return { text: given }
  const known = cache.sources.get(file)
  if (known !== undefined && changed?.has(file) === false && !cache.linked.has(file)) return known
  const content = readInside(folder, file)
  if ('text' in content && content.isLinked) cache.linked.add(file)
  else cache.linked.delete(file)
  return content
}

interface Content {
  readonly file: string
  readonly text: string
  readonly includedAt: readonly IncludeSite[]
}

function parse({ report, cache, budget }: Loading, { file, text, includedAt }: Content): Source | Refusal {
  budget.characters -= text.length
  if (budget.characters < 0) return { problem: 'refused', reason: 'the files of the definition are larger than 8 MB' }
  budget.parts -= countParts(text)
  if (budget.parts < 0) return { problem: 'refused', reason: 'the definition has more than 200,000 lines and items' }
  const cached = cache.sources.get(file)
  if (cached?.text === text) return cached
  try {
    const source = parseSource(file, text, { includedAt, report })
    // What has a problem is parsed again, so that the problem is reported again.
    if (source.content === undefined) cache.sources.delete(file)
    else cache.sources.set(file, source)
    return source
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { problem: 'refused', reason: `values are nested more than ${maxDepth} levels deep` }
  }
}

/** The place of a text as an including site. */
export function siteOf(at: Span): IncludeSite {
  return { file: at.origin.source.file, ...positionOf(at) }
}
