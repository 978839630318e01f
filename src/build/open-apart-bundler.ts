import type { Metafile } from 'esbuild'
import { allHelpers } from './all-helpers.ts'
import {
  namePackages,
  openBundler,
  outputNameOf,
  type Bundle,
  type Bundler,
  type BundleResult,
} from './open-bundler.ts'
import { isOwnInput } from './project-path.ts'

/**
 * Opens a bundler that leaves packages in outputs of their own: what an edit of the project makes anew is its own code,
 * which matters where modules are loaded again and again, and never freed.
 */
export async function openApartBundler(root: string, entries: ReadonlyMap<string, string>): Promise<Bundler> {
  let packages: readonly string[] = []
  let bundler = await openBundler(root, entries, allHelpers)

  async function reopen(next: readonly string[]): Promise<BundleResult> {
    await bundler.close()
    packages = next
    // An entry more, beside those that use it, is what makes esbuild split a package off.
    bundler = await openBundler(root, new Map([...entries, ...namePackages(packages)]), allHelpers)
    return bundler.bundle()
  }
  return {
    async bundle() {
      let result = await bundler.bundle()
      if (result.bundle === undefined && packages.length > 0) result = await reopen([]) // one of them may be gone
      const wanted = result.bundle === undefined ? [] : findPackages(result.bundle.metafile)
      if (wanted.some((file) => !packages.includes(file))) result = await reopen(wanted)
      return result.bundle === undefined ? result : { ...result, bundle: keepEntries(result.bundle, entries) }
    },
    close: () => bundler.close(),
  }
}

/** The files of packages that the project imports. */
function findPackages({ inputs }: Metafile): string[] {
  const targets = Object.entries(inputs).flatMap(([file, { imports }]) =>
    isOwnInput(file) && !file.startsWith('<')
      ? imports.filter(({ external }) => !external).map(({ path }) => path)
      : [],
  )
  return [...new Set(targets)].filter((file) => !isOwnInput(file) && !file.includes(':')).sort()
}

function keepEntries({ outputs, metafile }: Bundle, entries: ReadonlyMap<string, string>): Bundle {
  const kept = reachOutputs(metafile.outputs, new Set([...entries.values()].map((name) => `${name}.js`)))
  return {
    entries,
    outputs: new Map([...outputs].filter(([name]) => kept.has(name))),
    metafile: { inputs: withoutHelpers(metafile.inputs), outputs: keepOutputs(metafile.outputs, kept) },
  }
}

function withoutHelpers(inputs: Metafile['inputs']): Metafile['inputs'] {
  return Object.fromEntries(Object.entries(inputs).filter(([file]) => !file.startsWith('<')))
}

export function keepOutputs(outputs: Metafile['outputs'], names: ReadonlySet<string>): Metafile['outputs'] {
  return Object.fromEntries(Object.entries(outputs).filter(([file]) => names.has(outputNameOf(file))))
}

/** The names of outputs and of all that they import. */
export function reachOutputs(outputs: Metafile['outputs'], names: ReadonlySet<string>): ReadonlySet<string> {
  const byName = new Map(Object.entries(outputs).map(([file, output]) => [outputNameOf(file), output]))
  const reached = new Set(names)
  for (const name of reached) {
    for (const { path, external } of byName.get(name)?.imports ?? []) if (!external) reached.add(outputNameOf(path))
  }
  return reached
}
