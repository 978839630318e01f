import type { Metafile } from 'esbuild'
import type { SourceResults } from './guard-sources.ts'
import {
  namePackages,
  openBundler,
  outputNameOf,
  type Bundle,
  type Bundler,
  type BundleResult,
} from './open-bundler.ts'
import { isOwnInput } from './project-path.ts'

/** Returns a data URL of a module. */
function dataUrl(code: string): string {
  return JSON.stringify(`data:text/javascript,${encodeURIComponent(code)}`)
}

const names = dataUrl("export * from 'node:path'\nexport const one = 1\nexport default 2")
const required = dataUrl(`exports.names = require(${names})`)

/**
 * Code that uses all of esbuild's module helpers. Bundled with other code, it makes the helper chunk the same for any
 * code, and so every chunk that imports it. Otherwise an edit would change the chunks of packages, which would be
 * loaded again.
 */
export const allHelpers: string = `
  import * as names from ${names}
  import required from ${required}
  export default [function named() {}, (name) => names[name], required, (name) => require(name)]
`

/**
 * Opens a bundler that puts packages into separate outputs, so that an edit of the project only changes outputs with
 * its own code. Loaded modules are never freed, so this limits memory in development.
 */
export async function openSplitBundler(
  root: string,
  entries: ReadonlyMap<string, string>,
  known: SourceResults = new Map(),
): Promise<Bundler> {
  const options = { extraCode: allHelpers, known }
  let packages: readonly string[] = []
  let bundler = await openBundler(root, entries, options)

  async function reopen(next: readonly string[]): Promise<BundleResult> {
    await bundler.close()
    packages = next
    // An additional entry for each makes esbuild split the package off.
    bundler = await openBundler(root, new Map([...entries, ...namePackages(packages)]), options)
    return bundler.bundle()
  }
  return {
    async bundle() {
      let result = await bundler.bundle()
      // A package may have been removed.
      if (result.bundle === undefined && packages.length > 0) result = await reopen([])
      const wanted = result.bundle === undefined ? [] : findPackages(result.bundle.metafile)
      if (wanted.some((file) => !packages.includes(file))) result = await reopen(wanted)
      return result.bundle === undefined ? result : { ...result, bundle: keepEntries(result.bundle, entries) }
    },
    close: () => bundler.close(),
  }
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

function keepEntries({ outputs, metafile }: Bundle, entries: ReadonlyMap<string, string>): Bundle {
  const retained = collectOutputs(metafile.outputs, new Set([...entries.values()].map((name) => `${name}.js`)))
  return {
    entries,
    outputs: new Map([...outputs].filter(([name]) => retained.has(name))),
    metafile: { inputs: withoutHelpers(metafile.inputs), outputs: keepOutputs(metafile.outputs, retained) },
  }
}

function withoutHelpers(inputs: Metafile['inputs']): Metafile['inputs'] {
  return Object.fromEntries(Object.entries(inputs).filter(([file]) => !file.startsWith('<')))
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
