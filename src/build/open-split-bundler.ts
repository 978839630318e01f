import type { Metafile } from 'esbuild'
import type { SourceResults } from './guard-sources.ts'
import { dataUrl, nameSplit, openBundler, outputNameOf, type Bundle, type BundleResult } from './open-bundler.ts'
import { isOwnInput } from './project-path.ts'
import { findShared, importShared } from './shared-files.ts'

const names = JSON.stringify(dataUrl("export * from 'node:path'\nexport const one = 1\nexport default 2"))
const required = JSON.stringify(dataUrl(`exports.names = require(${names})`))

/**
 * Code that uses all of esbuild's module helpers. Bundled beside other code, it makes the helper chunk the same for any
 * code, and so every chunk that imports it. Otherwise an edit would change the chunks of packages, which would be
 * loaded again.
 */
export const allHelpers: string = `
  import * as names from ${names}
  import required from ${required}
  export default [function named() {}, (name) => names[name], required, (name) => require(name)]
`

/** A bundle with the outputs of files that are split off. */
export interface SplitBundle extends Bundle {
  /** The output names of the files of packages that the project imports. */
  readonly packages: ReadonlyMap<string, string>
  /** The output names of files of the project that many others import. */
  readonly shared: ReadonlyMap<string, string>
}

export interface SplitResult extends BundleResult {
  readonly bundle?: SplitBundle
}

export interface SplitBundler {
  bundle(): Promise<SplitResult>
  close(): Promise<void>
}

export interface SplitOptions {
  readonly known?: SourceResults
  /** Files of the project to split off from the first build on. */
  readonly shared?: readonly string[]
}

/**
 * Opens a bundler that puts packages, and files that many others import, into separate outputs, so that an edit only
 * changes outputs with code that depends on it. Loaded modules are never freed, so this limits memory in development.
 */
export async function openSplitBundler(
  root: string,
  entries: ReadonlyMap<string, string>,
  { known = new Map(), shared = [] }: SplitOptions = {},
): Promise<SplitBundler> {
  let split = { packages: [] as readonly string[], shared }
  let bundler = await open()

  function open() {
    const all = new Map([...entries, ...nameSplit([...split.packages, ...split.shared])])
    return openBundler(root, all, {
      extraCode: importShared(split.shared),
      extraModule: allHelpers,
      known,
      isSplit: true,
    })
  }
  async function reopen(next: typeof split): Promise<BundleResult> {
    await bundler.close()
    split = next
    // An additional entry for each makes esbuild split the file off.
    bundler = await open()
    return bundler.bundle()
  }
  return {
    async bundle() {
      let result = await bundler.bundle()
      // A file may have been removed.
      if (result.bundle === undefined && split.packages.length + split.shared.length > 0)
        result = await reopen({ packages: [], shared: [] })
      const metafile = result.bundle?.metafile
      if (metafile !== undefined) {
        const packages = findPackages(metafile)
        const often = [...new Set([...shared, ...findShared(root, metafile, { entries, known })])].sort()
        const isKnown = includesAll(split.packages, packages) && includesAll(split.shared, often)
        if (!isKnown) result = await reopen({ packages, shared: often })
      }
      const { bundle, ...rest } = result
      const { packages } = split
      return bundle === undefined
        ? rest
        : { ...rest, bundle: { ...bundle, entries, packages: nameSplit(packages), shared: nameSplit(split.shared) } }
    },
    close: () => bundler.close(),
  }
}

function includesAll(all: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((file) => all.includes(file))
}

/** Returns the files of packages that the project imports. */
function findPackages({ inputs }: Metafile): string[] {
  const targets = Object.entries(inputs).flatMap(([file, { imports }]) =>
    isOwnInput(file) && !file.startsWith('<')
      ? imports.filter(({ external }) => !external).map(({ path }) => path)
      : [],
  )
  return [...new Set(targets)].filter((file) => !isOwnInput(file) && !file.includes(':')).sort()
}

/** Returns the bundle without what its entries do not import, such as a package that none imports any more. */
export function keepEntries({ entries, outputs, metafile }: Bundle): Bundle {
  const names = new Set([...entries.values()].map((name) => `${name}.js`))
  const retained = collectOutputs(metafile.outputs, names)
  const used = collectInputs(metafile, names)
  const inputs = Object.entries(metafile.inputs).filter(([file]) => used.has(file))
  return {
    entries,
    outputs: new Map([...outputs].filter(([name]) => retained.has(name))),
    metafile: { inputs: Object.fromEntries(inputs), outputs: keepOutputs(metafile.outputs, retained) },
  }
}

/** Returns the inputs of outputs with all inputs that they import. */
function collectInputs({ inputs, outputs }: Metafile, names: ReadonlySet<string>): ReadonlySet<string> {
  const roots = Object.entries(outputs).flatMap(([file, { entryPoint }]) =>
    entryPoint !== undefined && names.has(outputNameOf(file)) ? [entryPoint] : [],
  )
  const reached = new Set(roots)
  for (const file of reached) {
    for (const { path, external } of inputs[file]?.imports ?? []) if (!external) reached.add(path)
  }
  return reached
}

export function keepOutputs(outputs: Metafile['outputs'], names: ReadonlySet<string>): Metafile['outputs'] {
  return Object.fromEntries(Object.entries(outputs).filter(([file]) => names.has(outputNameOf(file))))
}

/** Returns the outputs with all outputs that they import. */
export function collectOutputs(outputs: Metafile['outputs'], names: ReadonlySet<string>): ReadonlySet<string> {
  const byName = new Map(Object.entries(outputs).map(([file, output]) => [outputNameOf(file), output]))
  const reached = new Set(names)
  for (const name of reached) {
    for (const { path, external } of byName.get(name)?.imports ?? []) if (!external) reached.add(outputNameOf(path))
  }
  return reached
}
