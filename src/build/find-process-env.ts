import type { Loader, PartialMessage, PluginBuild } from 'esbuild'
import { SourceMap, type SourceMapPayload } from 'node:module'
import path from 'node:path'

/** Marks an esbuild warning as one about `process.env`, for `checkWarnings`. */
export interface ProcessEnvWarning {
  readonly processEnv: true
}

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

const marker = '__waypost_process_env__'
// `define` does not replace an imported or destructured `process`. Comments are already removed, so only strings could
// match wrongly.
const others = [
  /\bimport\s*\{[^}]*\benv\b[^}]*\}\s*from\s*"(?:node:)?process"/g,
  /\{[^{}]*\benv\b[^{}]*\}\s*=\s*process\b/g,
]
const imported = /\bprocess\.env\b/g

/** Finds where a source file reads `process.env`, ignoring comments and strings. */
export async function findProcessEnv(
  { transform }: PluginBuild['esbuild'],
  file: string,
  source: string,
): Promise<PartialMessage[]> {
  const loader = sourceLoader(file)
  if (loader === undefined || !/\bprocess\b/.test(source) || !/\benv\b/.test(source)) return []
  const result = await transform(source, {
    loader,
    define: { 'process.env': marker, 'globalThis.process.env': marker },
    sourcemap: 'external',
    sourcefile: file,
    logLevel: 'silent',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  }).catch(() => undefined) // the build reports the syntax error
  if (result === undefined) return []
  const patterns = /from "(?:node:)?process"/.test(result.code) ? [...others, imported] : others
  const found = [new RegExp(marker, 'g'), ...patterns].flatMap((pattern) => [...result.code.matchAll(pattern)])
  const map = new SourceMap(JSON.parse(result.map) as SourceMapPayload)
  const lines = source.split(/\r?\n/)
  return found.flatMap(({ index }) => {
    const before = result.code.slice(0, index).split('\n')
    const origin = map.findEntry(before.length - 1, before.at(-1)!.length)
    if (!('originalLine' in origin)) return []
    const lineText = lines[origin.originalLine] ?? ''
    const written = lineText.slice(origin.originalColumn)
    const length = /^(?:globalThis\.)?process\??\.env(?:\.\w+)?/.exec(written)?.[0].length ?? 0
    const column = Buffer.byteLength(lineText.slice(0, origin.originalColumn))
    const location = { file, line: origin.originalLine + 1, column, length, lineText }
    return [{ text: 'process.env', location, detail: { processEnv: true } satisfies ProcessEnvWarning }]
  })
}
