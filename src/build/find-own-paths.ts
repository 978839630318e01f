import type { OutputFile } from 'esbuild'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { outputNameOf, resolveSource, type Bundle } from './open-bundler.ts'

/** A place of a source that asks for its own path, which code of a release does not have. */
export interface OwnPath {
  /** Absolute. */
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly column: number
  readonly lineText: string
  /** For example `__dirname`. */
  readonly text: string
}

// esbuild renames the `require` of packages.
const asking =
  /\b__(?:dir|file)name\b|\bimport\.meta\.(?:dirname|filename|url)\b|(?<![\w$.])[\w$]+\.resolve\((?=["'`])/g

const nameOf = (match: string) => (match.endsWith('.resolve(') ? 'require.resolve' : match)

/** What outputs ask for, by their content. Most do not change between builds. */
export type OwnPathCache = Map<string, readonly OwnPath[]>

/**
 * Finds where the code of a bundle asks for its own path. Code that was left out, strings and comments do not count.
 * @param found cache of the previous build; contains that of this build afterwards
 */
export function findOwnPaths(
  root: string,
  { outputs, metafile }: Bundle,
  found: OwnPathCache = new Map(),
): readonly OwnPath[] {
  const before = new Map(found)
  found.clear()
  const used = new Set(Object.keys(metafile.outputs).map(outputNameOf))
  return [...outputs].flatMap(([name, { code, map }]) => {
    if (!used.has(name)) return []
    const key = `${code.hash} ${map.hash}`
    const places = before.get(key) ?? findInOutput(root, code, map)
    found.set(key, places)
    return places
  })
}

function findInOutput(root: string, code: OutputFile, map: OutputFile): OwnPath[] {
  const written = code.text // decoded with each access
  const matches = [...written.matchAll(asking)].filter((match) => !isOptional(match))
  if (matches.length === 0) return []
  const payload = JSON.parse(map.text) as SourceMapPayload
  const sources = new SourceMap(payload)
  const starts = lineStarts(written)
  return matches.flatMap(({ index, 0: match }) => {
    const text = nameOf(match)
    const line = starts.findLastIndex((start) => start <= index)
    const origin = sources.findEntry(line, index - starts[line]!)
    if (!('originalLine' in origin)) return []
    const content = payload.sourcesContent[payload.sources.indexOf(origin.originalSource)] ?? ''
    const lineText = content.split(/\r?\n/)[origin.originalLine] ?? ''
    if (!lineText.startsWith(text, origin.originalColumn)) return []
    const file = resolveSource(root, decodeURIComponent(origin.originalSource))
    return [
      {
        file,
        line: origin.originalLine + 1,
        column: origin.originalColumn + 1,
        lineText,
        text,
      },
    ]
  })
}

/** Whether the code also works without the name: `typeof __dirname === "undefined" ? … : __dirname`. */
function isOptional({ 0: text, index, input }: RegExpExecArray): boolean {
  return text.startsWith('__') && input.slice(Math.max(0, index - 40), index + text.length).includes(`typeof ${text}`)
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
