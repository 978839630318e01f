import type { BuildContext, BuildFailure, BuildOptions, Message, Metafile, OutputFile } from 'esbuild'
import path from 'node:path'
import { sha256 } from '../kit/index.ts'
import type { Carried, CarriedSink } from './carry-files.ts'
import { guardSources } from './guard-sources.ts'
import { artifactScheme } from './link-artifacts.ts'

/** What esbuild made of a set of entries, before it is named. */
export interface Bundle {
  /** Code and source map by output name. */
  readonly outputs: ReadonlyMap<string, { readonly code: OutputFile; readonly map: OutputFile }>
  /** Output name by entry file. */
  readonly entries: ReadonlyMap<string, string>
  readonly metafile: Metafile
}

export interface BundleResult {
  readonly bundle?: Bundle
  readonly carried: Carried
  readonly errors: readonly Message[]
  readonly warnings: readonly Message[]
}

/** Bundles one set of entry files, again and again; each time only what changed is parsed. */
export interface Bundler {
  /** @param changed the files, relative to the root, that may differ from the call before; undefined if any may */
  bundle(changed?: ReadonlySet<string>): Promise<BundleResult>
  close(): Promise<void>
}

/** Output names by entry file, the same whatever others are bundled with it. */
export function nameEntries(files: readonly string[]): ReadonlyMap<string, string> {
  return new Map(files.map((file, index) => [file, outputName(`entry${index}`, nameLength)]))
}

/** Output names of files of packages: a dynamic import names such an output, so that no bundle may give it to another file. */
export function namePackages(files: readonly string[]): ReadonlyMap<string, string> {
  return new Map(files.map((file) => [file, outputName(`package${sha256(file).slice(0, 24)}`, nameLength)]))
}

// Never written: the folder that the paths of outputs and the sources of their maps are relative to.
const outputFolder = '.waypost/build'

// A specifier of esbuild's own (`./NAME.js`) has the length of the final one, so that to replace it moves no column and
// every source map stays true.
const nameLength = artifactScheme.length + 64 - './'.length - '.js'.length
const chunkHashLength = '-XXXXXXXX'.length

/**
 * Opens a bundler of named entries. `root` is a real path. esbuild is loaded here and nowhere else.
 * @param beside code that is bundled too
 */
export async function openBundler(
  root: string,
  entries: ReadonlyMap<string, string>,
  beside?: string,
): Promise<Bundler> {
  const { context } = await import('esbuild')
  const carried: CarriedSink = { names: new Set(), artifacts: new Map() }
  const building: BuildContext = await context({
    ...makeOptions(root, entries),
    plugins: [guardSources(root, carried)],
    ...(beside === undefined ? {} : { stdin: { contents: beside, resolveDir: root } }),
  })
  return {
    async bundle() {
      carried.names.clear()
      carried.artifacts.clear()
      const found = (): Carried => ({ names: new Set(carried.names), artifacts: new Map(carried.artifacts) })
      try {
        const { outputFiles = [], metafile, warnings } = await building.rebuild()
        const bundle = { outputs: pairOutputs(outputFiles), entries, metafile: metafile! }
        return { bundle, carried: found(), errors: [], warnings }
      } catch (error) {
        if (!isBuildFailure(error)) throw error
        return { carried: found(), errors: error.errors, warnings: error.warnings }
      }
    },
    close: () => building.dispose(),
  }
}

/** An output's name from its path, however that is written. */
export function outputNameOf(file: string): string {
  return path.basename(file)
}

/** The absolute path of a source as a map of an output names it. */
export function resolveSource(root: string, source: string): string {
  return path.resolve(root, outputFolder, source)
}

function outputName(start: string, length: number): string {
  return start.padEnd(length, '_')
}

function makeOptions(root: string, entries: ReadonlyMap<string, string>): BuildOptions {
  return {
    absWorkingDir: root,
    entryPoints: [...entries].map(([file, name]) => ({ in: path.join(root, file), out: name })),
    outdir: path.join(root, outputFolder),
    entryNames: '[name]',
    chunkNames: `${outputName('chunk', nameLength - chunkHashLength)}-[hash]`,
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: ['waypost', 'waypost/*', `${artifactScheme}*`],
    nodePaths: [],
    // A native add-on is found in the metafile; without a loader it would be an error that names no import.
    loader: { '.node': 'empty' },
    // Ours alone: a tsconfig.json of the project or above it changes no artifact.
    tsconfigRaw: { compilerOptions: { target: 'esnext', useDefineForClassFields: true, verbatimModuleSyntax: true } },
    // Identifiers too: esbuild derives some from names of folders.
    minify: true,
    keepNames: true,
    charset: 'utf8',
    legalComments: 'none',
    banner: { js: requireBanner },
    sourcemap: 'external',
    sourcesContent: true,
    metafile: true,
    logLevel: 'silent',
  }
}

// For CommonJS packages that are bundled in and require a module of Node. An artifact has no folder of its own to
// require from, and the loader lets nothing but modules of Node through.
const requireBanner =
  'import{createRequire as waypostRequire}from"node:module";const require=waypostRequire(process.execPath);'

function pairOutputs(files: readonly OutputFile[]): Bundle['outputs'] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const pairs = files.filter(({ path: file }) => file.endsWith('.js'))
  return new Map(pairs.map((code) => [outputNameOf(code.path), { code, map: byPath.get(`${code.path}.map`)! }]))
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors)
}
