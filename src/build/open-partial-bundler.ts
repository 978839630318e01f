import { groupInputs } from './group-inputs.ts'
import { forgetSources, type SourceResults } from './guard-sources.ts'
import { mergePart, type MergedBundle } from './merge-part.ts'
import { keepEntries, openSplitBundler, type SplitBundle, type SplitBundler } from './open-split-bundler.ts'
import { outputNameOf, type Bundle, type Bundler, type BundleResult } from './open-bundler.ts'
import { isIndependent } from './shared-files.ts'

// Users edit a few actions in turn. Each bundler keeps its parsed files.
const maxParts = 4

/**
 * Opens a bundler of named entries that only bundles the entries that share code with changed files. The result is the
 * same as that of bundling everything. `root` is a real path.
 */
export async function openPartialBundler(root: string, names: ReadonlyMap<string, string>): Promise<Bundler> {
  const known: SourceResults = new Map()
  const whole = await openSplitBundler(root, names, { known })
  const parts = makeParts(root, names, known)
  let last: GoodResult | undefined
  let dirty = new Set<string>()

  async function bundle(changed: ReadonlySet<string> | undefined): Promise<MergedResult> {
    forgetSources(known, root, changed)
    if (changed === undefined) last = undefined
    dirty = new Set([...dirty, ...(changed ?? [])])
    const part = last === undefined ? undefined : findPart(last.bundle, dirty)
    if (last !== undefined && part?.isEmpty === true) return last
    if (last === undefined || part === undefined) return bundleAll()
    const result = await (await parts.of(part)).bundle()
    if (result.bundle === undefined) return withoutBundle(result)
    const isFree = part.changedShared.every((file) => isIndependent(root, file, known))
    const merged = isFree ? merge(last, { ...result, bundle: result.bundle }, part) : undefined
    return merged ?? bundleAll()
  }
  async function bundleAll(): Promise<MergedResult> {
    const result = await whole.bundle()
    return result.bundle === undefined
      ? withoutBundle(result)
      : { ...result, bundle: { ...result.bundle, renamed: new Map() } }
  }
  return {
    async bundle(changed) {
      const result = await bundle(changed)
      if (result.bundle === undefined) return withoutBundle(result) // keeps `changed` for the next call
      last = { ...result, bundle: result.bundle }
      dirty = new Set()
      return { ...result, bundle: keepEntries(result.bundle) }
    },
    async close() {
      await Promise.all([whole.close(), parts.close()])
    },
  }
}

type MergedResult = BundleResult & { readonly bundle?: MergedBundle }
type GoodPart = BundleResult & { readonly bundle: SplitBundle }
type GoodResult = BundleResult & { readonly bundle: MergedBundle }

function withoutBundle({ bundle: _, ...result }: BundleResult): Omit<BundleResult, 'bundle'> {
  return result
}

/** What to bundle again. */
interface Part {
  /** Nothing has changed. */
  readonly isEmpty: boolean
  readonly entries: readonly string[]
  /** The shared files that these import, and those that changed. */
  readonly shared: readonly string[]
  readonly changedShared: readonly string[]
  /** Whether an input is among what is bundled again, not only imported by it. */
  isReplaced(file: string): boolean
}

/** Bundlers of a few entries each, the most recently used ones. */
function makeParts(root: string, names: ReadonlyMap<string, string>, known: SourceResults) {
  const parts = new Map<string, SplitBundler>()
  return {
    async of({ entries, shared }: Part): Promise<SplitBundler> {
      const key = JSON.stringify([entries, shared])
      const named = new Map(entries.map((file) => [file, names.get(file)!]))
      const part = parts.get(key) ?? (await openSplitBundler(root, named, { known, shared }))
      parts.delete(key)
      parts.set(key, part)
      const [oldest] = parts.keys()
      if (parts.size > maxParts) {
        await parts.get(oldest!)!.close()
        parts.delete(oldest!)
      }
      return part
    },
    async close(): Promise<void> {
      await Promise.all([...parts.values()].map((part) => part.close()))
    },
  }
}

/** Returns the entries that share code with changed files; undefined if bundling everything is better. */
function findPart(bundle: MergedBundle, changed: ReadonlySet<string>): Part | undefined {
  const sources = [...changed].filter((file) => !/\.ya?ml$/.test(file))
  const { metafile, entries, shared, packages } = bundle
  const { inputs } = metafile
  const inputsOf = Map.groupBy(Object.keys(inputs), fileOfInput)
  if (!sources.every((file) => inputsOf.has(file))) return undefined // not imported before
  const groupOf = groupInputs(inputs, (file) => shared.has(file) || packages.has(file))
  const inputOf = findInputs(bundle)
  const groups = new Set(sources.flatMap((file) => inputsOf.get(file)!).map(groupOf))
  const isReplaced = (file: string) => groups.has(groupOf(file))
  const part = [...entries.keys()].filter((file) => isReplaced(inputOf(file)))
  const changedShared = [...shared.keys()].filter(isReplaced)
  if (part.length > entries.size / 2) return undefined
  if (sources.length > 0 && part.length + changedShared.length === 0) return undefined
  if ([...packages.keys()].some(isReplaced)) return undefined // of a linked package
  return {
    isEmpty: sources.length === 0,
    entries: part,
    shared: findImported(bundle, Object.keys(inputs).filter(isReplaced)),
    changedShared,
    isReplaced,
  }
}

/** Returns the shared files among inputs and what they import. */
function findImported({ metafile: { inputs }, shared }: SplitBundle, files: readonly string[]): readonly string[] {
  const reached = new Set(files)
  for (const file of reached) for (const one of inputs[file]?.imports ?? []) if (!one.external) reached.add(one.path)
  return [...reached].filter((file) => shared.has(file)).sort()
}

/**
 * Returns the file of an input. A file imported in several ways (`with { type: 'json' }`, `?raw`) is several inputs.
 */
export function fileOfInput(input: string): string {
  return input.replace(/ with \{.*\}$/s, '').replace(/\?.*$/s, '')
}

/** Returns a function that finds the input of an entry, which has another name if a link leads to it. */
function findInputs({ metafile: { outputs }, entries }: Bundle): (file: string) => string {
  const byName = new Map(Object.entries(outputs).map(([file, { entryPoint }]) => [outputNameOf(file), entryPoint]))
  return (file) => byName.get(`${entries.get(file)}.js`) ?? file
}

/** Replaces the previous result of a part; undefined if it now shares code with the rest. */
function merge(last: GoodResult, part: GoodPart, { isReplaced }: Part): GoodResult | undefined {
  const bundle = mergePart(last.bundle, part.bundle, isReplaced)
  const isRest = (file: string) => Object.hasOwn(last.bundle.metafile.inputs, file) && !isReplaced(file)
  if (bundle === undefined) return undefined
  return {
    assets: {
      names: new Set([...last.assets.names, ...part.assets.names]),
      artifacts: new Map([...last.assets.artifacts, ...part.assets.artifacts]),
    },
    errors: [],
    warnings: [
      ...last.warnings.filter(({ location }) => location !== null && !isReplaced(location.file)),
      ...part.warnings.filter(({ location }) => location === null || !isRest(location.file)),
    ],
    bundle,
  }
}
