import type { BuildContext, BuildFailure, BuildOptions, Message, Metafile, OutputFile } from 'esbuild'
import path from 'node:path'
import { sha256 } from '../kit/index.ts'
import type { Assets, AssetSink } from './collect-assets.ts'
import { guardSources, type SourceResults } from './guard-sources.ts'
import { artifactScheme } from './link-artifacts.ts'
import { loadTsconfig, type Tsconfig } from './load-tsconfig.ts'

/** The result of esbuild for a set of entries, before artifacts are named. */
export interface Bundle {
  /** Code and source map by output name. */
  readonly outputs: ReadonlyMap<string, { readonly code: OutputFile; readonly map: OutputFile }>
  /** Output name by entry file. */
  readonly entries: ReadonlyMap<string, string>
  readonly metafile: Metafile
}

export interface BundleResult {
  readonly bundle?: Bundle
  readonly assets: Assets
  readonly errors: readonly Message[]
  readonly warnings: readonly Message[]
}

/** Bundles a set of entry files repeatedly. Unchanged files are not parsed again. */
export interface Bundler {
  /** @param changed the files, relative to the root, that may have changed since the last call; undefined if any may */
  bundle(changed?: ReadonlySet<string>): Promise<BundleResult>
  close(): Promise<void>
}

/** Names outputs by entry file, independent of the other entries. */
export function nameEntries(files: readonly string[]): ReadonlyMap<string, string> {
  return new Map(files.map((file, index) => [file, outputName(`entry${index}`, nameLength)]))
}

/** Names outputs of files that are split off. A dynamic import contains the name, so no other file may get it. */
export function nameSplit(files: readonly string[]): ReadonlyMap<string, string> {
  return new Map(files.map((file) => [file, outputName(`package${sha256(file).slice(0, 24)}`, nameLength)]))
}

// Never written. The paths of outputs and of the sources in their maps are relative to it.
const outputFolder = '.waypost/build'

// esbuild's specifiers (`./NAME.js`) have the length of the final ones, so that replacing them moves no column and
// source maps stay valid.
const nameLength = artifactScheme.length + 64 - './'.length - '.js'.length
const chunkHashLength = '-XXXXXXXX'.length

export interface BundlerOptions {
  /** Additional code to bundle, in the root, and another module that imports no file. */
  readonly extraCode?: string
  readonly extraModule?: string
  /** Sources that need not be read again. */
  readonly known?: SourceResults
  /** For outputs that are bundled apart from their importers, which then contain no constants and functions of them. */
  readonly isSplit?: boolean
}

/**
 * Opens a bundler of named entries. `root` is a real path. Only this function loads esbuild.
 */
export async function openBundler(
  root: string,
  entries: ReadonlyMap<string, string>,
  { extraCode, extraModule, known, isSplit = false }: BundlerOptions = {},
): Promise<Bundler> {
  const { context } = await import('esbuild')
  const assets: AssetSink = { names: new Set(), artifacts: new Map() }
  const options = makeBundleOptions(root, entries)
  const extra = extraModule === undefined ? [] : [{ in: dataUrl(extraModule), out: 'extra' }]
  const building: BuildContext = await context({
    ...options,
    entryPoints: [...options.entryPoints, ...extra],
    ...(isSplit ? { minify: false, minifyWhitespace: true, minifyIdentifiers: true } : {}),
    plugins: [guardSources(root, assets, known)],
    ...(extraCode === undefined ? {} : { stdin: { contents: extraCode, resolveDir: root } }),
  })
  return {
    async bundle() {
      assets.names.clear()
      assets.artifacts.clear()
      const found = (): Assets => ({ names: new Set(assets.names), artifacts: new Map(assets.artifacts) })
      try {
        const { outputFiles = [], metafile, warnings } = await building.rebuild()
        const bundle = { outputs: pairOutputs(outputFiles), entries, metafile: metafile! }
        return { bundle, assets: found(), errors: [], warnings }
      } catch (error) {
        if (!isBuildFailure(error)) throw error
        return { assets: found(), errors: error.errors, warnings: error.warnings }
      }
    },
    close: () => building.dispose(),
  }
}

/** Returns the name of an output from any form of its path. */
export function outputNameOf(file: string): string {
  return path.basename(file)
}

/** Returns the absolute path of a source in the map of an output. */
export function resolveSource(root: string, source: string): string {
  return path.resolve(root, outputFolder, source)
}

/** Returns the data URL of a module. A * would be a pattern. */
export function dataUrl(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code).replaceAll('*', '%2A')}`
}

function outputName(start: string, length: number): string {
  return start.padEnd(length, '_')
}

/** @param tsconfig that of the project; a tsconfig.json above it does not change artifacts */
export function makeBundleOptions(
  root: string,
  entries: ReadonlyMap<string, string>,
  tsconfig: Pick<Tsconfig, 'build'> = loadTsconfig(root),
): BuildOptions & { readonly entryPoints: { in: string; out: string }[] } {
  return {
    ...tsconfig.build,
    absWorkingDir: root,
    // Relative: a * in the path of the project would be a pattern.
    entryPoints: [...entries].map(([file, name]) => ({ in: path.isAbsolute(file) ? file : `./${file}`, out: name })),
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
    // Native add-ons are found in the metafile. Without a loader they would be errors that do not name the import.
    loader: { '.node': 'empty' },
    // Includes identifiers, because esbuild derives some from folder names.
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

// For bundled CommonJS packages that require Node modules. An artifact has no path to require from, and the loader only
// allows Node modules.
const requireBanner =
  'import{createRequire as waypostRequire}from"node:module";const require=waypostRequire(process.execPath);'

export function pairOutputs(files: readonly OutputFile[]): Bundle['outputs'] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const pairs = files.filter(({ path: file }) => file.endsWith('.js'))
  return new Map(pairs.map((code) => [outputNameOf(code.path), { code, map: byPath.get(`${code.path}.map`)! }]))
}

export function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors)
}
