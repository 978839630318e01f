import type { Loader, PartialMessage, PluginBuild, TransformOptions } from 'esbuild'
import { SourceMap, type SourceMapPayload } from 'node:module'
import path from 'node:path'

const loaders: Readonly<Record<string, Loader>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
  '.jsx': 'jsx',
}

/** Returns the esbuild loader of a source file; undefined if the file is not code. */
export function sourceLoader(file: string): Loader | undefined {
  return loaders[path.extname(file)]
}

export interface TransformedSource {
  /** JavaScript without comments: statements of the module begin in the first column, all others do not. */
  readonly code: string
  /** Returns the place of the source that a place of the code comes from. `pattern` matches what is marked there. */
  locate(index: number, pattern: RegExp): PartialMessage['location']
}

/**
 * Transforms a source file so that patterns find code only.
 * @returns undefined if the file is not code or has a syntax error, which the build reports
 */
export async function transformSource(
  { transform }: PluginBuild['esbuild'],
  { file, source }: { readonly file: string; readonly source: string },
  options: TransformOptions = {},
): Promise<TransformedSource | undefined> {
  const loader = sourceLoader(file)
  if (loader === undefined) return undefined
  const result = await transform(source, {
    ...options,
    loader,
    sourcemap: 'external',
    sourcefile: file,
    logLevel: 'silent',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  }).catch(() => undefined)
  if (result === undefined) return undefined
  let map: SourceMap | undefined
  const lines = source.split(/\r?\n/)
  return {
    code: result.code,
    locate(index, pattern) {
      map ??= new SourceMap(JSON.parse(result.map) as SourceMapPayload)
      const before = result.code.slice(0, index).split('\n')
      const origin = map.findEntry(before.length - 1, before.at(-1)!.length)
      if (!('originalLine' in origin)) return undefined
      const lineText = lines[origin.originalLine] ?? ''
      const length = pattern.exec(lineText.slice(origin.originalColumn))?.[0].length ?? 0
      const column = Buffer.byteLength(lineText.slice(0, origin.originalColumn))
      return { file, line: origin.originalLine + 1, column, length, lineText }
    },
  }
}
