import { groupInputs } from './group-inputs.ts'
import { forgetSources, type SourceResults } from './guard-sources.ts'
import { keepOutputs, openSplitBundler, collectOutputs } from './open-split-bundler.ts'
import { outputNameOf, type Bundle, type Bundler, type BundleResult } from './open-bundler.ts'

// Users edit a few actions in turn. Each bundler keeps its parsed files.
const maxParts = 4

/**
 * Opens a bundler of named entries that only bundles the entries that share code with changed files. The result is the
 * same as that of bundling everything. `root` is a real path.
 */
export async function openPartialBundler(root: string, names: ReadonlyMap<string, string>): Promise<Bundler> {
  const known: SourceResults = new Map()
  const whole = await openSplitBundler(root, names, known)
  const parts = makeParts(root, names, known)
  let last: GoodResult | undefined
  let dirty = new Set<string>()

  async function bundle(changed: ReadonlySet<string> | undefined): Promise<BundleResult> {
    forgetSources(known, root, changed)
    if (changed === undefined) last = undefined
    dirty = new Set([...dirty, ...(changed ?? [])])
    const part = last === undefined ? undefined : findPart(last.bundle, dirty)
    if (last !== undefined && part?.length === 0) return last
    if (last === undefined || part === undefined) return whole.bundle()
    const result = await (await parts.of(part)).bundle()
    if (result.bundle === undefined) return result
    return merge(last, { ...result, bundle: result.bundle }) ?? whole.bundle()
  }
  return {
    async bundle(changed) {
      const result = await bundle(changed)
      if (result.bundle === undefined) return result // keeps `changed` for the next call
      last = { ...result, bundle: result.bundle }
      dirty = new Set()
      return result
    },
    async close() {
      await Promise.all([whole.close(), parts.close()])
    },
  }
}

type GoodResult = BundleResult & { readonly bundle: Bundle }

/** Bundlers of a few entries each, the most recently used ones. */
function makeParts(root: string, names: ReadonlyMap<string, string>, known: SourceResults) {
  const parts = new Map<string, Bundler>()
  return {
    async of(files: readonly string[]): Promise<Bundler> {
      const key = files.join('\n')
      const part =
        parts.get(key) ?? (await openSplitBundler(root, new Map(files.map((file) => [file, names.get(file)!])), known))
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
function findPart(bundle: Bundle, changed: ReadonlySet<string>): string[] | undefined {
  const sources = [...changed].filter((file) => !/\.ya?ml$/.test(file))
  if (sources.length === 0) return []
  const { metafile, entries } = bundle
  const inputsOf = Map.groupBy(Object.keys(metafile.inputs), fileOfInput)
  if (!sources.every((file) => inputsOf.has(file))) return undefined // not imported before
  const groupOf = groupInputs(metafile.inputs)
  const inputOf = findInputs(bundle)
  const groups = new Set(sources.flatMap((file) => inputsOf.get(file)!).map(groupOf))
  const part = [...entries.keys()].filter((file) => groups.has(groupOf(inputOf(file))))
  return part.length === 0 || part.length > entries.size / 2 ? undefined : part
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
function merge(last: GoodResult, part: GoodResult): GoodResult | undefined {
  const { inputs, outputs } = last.bundle.metafile
  const groupOf = groupInputs(inputs)
  const inputOf = findInputs(last.bundle)
  const replaced = new Set([...part.bundle.entries.keys()].map((file) => groupOf(inputOf(file))))
  const restInputs = Object.entries(inputs).filter(([file]) => !replaced.has(groupOf(file)))
  const partInputs = part.bundle.metafile.inputs
  if (restInputs.some(([file]) => Object.hasOwn(partInputs, file))) return undefined

  const rest = [...last.bundle.entries].filter(([file]) => !part.bundle.entries.has(file))
  const retained = collectOutputs(outputs, new Set(rest.map(([, name]) => `${name}.js`)))
  return {
    assets: {
      names: new Set([...last.assets.names, ...part.assets.names]),
      artifacts: new Map([...last.assets.artifacts, ...part.assets.artifacts]),
    },
    errors: [],
    warnings: [
      ...last.warnings.filter(({ location }) => location !== null && !replaced.has(groupOf(location.file))),
      ...part.warnings,
    ],
    bundle: {
      entries: last.bundle.entries,
      outputs: new Map([...[...last.bundle.outputs].filter(([name]) => retained.has(name)), ...part.bundle.outputs]),
      metafile: {
        inputs: { ...Object.fromEntries(restInputs), ...partInputs },
        outputs: { ...keepOutputs(outputs, retained), ...part.bundle.metafile.outputs },
      },
    },
  }
}
