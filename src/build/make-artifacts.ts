import type { Metafile } from 'esbuild'
import type { Artifact } from '../release/index.ts'
import { linkArtifacts, type UnlinkedModule } from './link-artifacts.ts'
import { outputNameOf, resolveSource, type Bundle } from './open-bundler.ts'
import { isPackagePath, projectPath } from './project-path.ts'

interface SourceMap {
  readonly sources: readonly string[]
  readonly sourcesContent?: readonly (string | null)[]
  readonly mappings: string
}

/** Finished outputs by their content. Most do not change between builds. */
export type OutputCache = Map<string, CachedOutput>

interface CachedOutput {
  readonly text: string
  readonly map: SourceMap
  /** Contents by the resolved imports. */
  readonly contents: Map<string, string>
}

/**
 * Creates the artifacts of a bundle by output name: named by content, with source maps that contain the project's file
 * names.
 * @param written cache of the previous build; contains that of this build afterwards
 */
export function makeArtifacts(root: string, bundle: Bundle, written: OutputCache = new Map()): Map<string, Artifact> {
  const before = new Map(written)
  written.clear()
  const imports = new Map(
    Object.entries(bundle.metafile.outputs).map(([file, output]) => [outputNameOf(file), importsOf(output)]),
  )
  const modules = [...bundle.outputs].map(([name, { code, map }]): UnlinkedModule => {
    const key = `${code.hash} ${map.hash}`
    const output = before.get(key) ?? {
      text: code.text.trimEnd(),
      map: relativizeSources(root, JSON.parse(map.text) as SourceMap),
      contents: new Map(),
    }
    written.set(key, output)
    const own = imports.get(name) ?? []
    return {
      name,
      imports: own,
      write: (resolve, header) =>
        write(
          output,
          own.map((one) => [one, resolve(one)]),
          header,
        ),
    }
  })
  return linkArtifacts(modules)
}

function importsOf(output: Metafile['outputs'][string]): string[] {
  const names = output.imports
    .filter(({ external, kind }) => !external && kind !== 'file-loader')
    .map(({ path }) => outputNameOf(path))
  return [...new Set(names)]
}

type Resolved = readonly (readonly [name: string, specifier: string])[]

function write({ text, map, contents }: CachedOutput, imports: Resolved, header: string): string {
  const key = JSON.stringify([imports, header])
  const known = contents.get(key)
  if (known !== undefined) return known
  let code = text
  for (const [name, specifier] of imports) code = code.replaceAll(`./${name}`, specifier)
  if (code.length !== text.length)
    throw new Error('An import was written with another length: source maps would be wrong')
  const moved = header === '' ? map : { ...map, mappings: `;${map.mappings}` }
  const url = `data:application/json;base64,${Buffer.from(JSON.stringify(moved)).toString('base64')}`
  const content = `${header === '' ? '' : `${header}\n`}${code}\n//# sourceMappingURL=${url}\n`
  contents.clear() // only the latest is requested again
  contents.set(key, content)
  return content
}

/**
 * Names sources relative to the project. Sources of packages keep their lines but not their text, because users do not
 * edit them.
 */
function relativizeSources(root: string, map: SourceMap): SourceMap {
  const names = map.sources.map((source) => projectPath(root, resolveSource(root, decodeURIComponent(source))))
  const sourcesContent = names.map((name, index) =>
    isPackagePath(name) ? null : (map.sourcesContent?.[index]?.replaceAll('\r\n', '\n') ?? null),
  )
  return { ...map, sources: names.map(encodeSource), sourcesContent }
}

/** Sources are URLs: readable, with only the characters escaped that would end a path. */
function encodeSource(name: string): string {
  return encodeURI(name).replace(/[?#]/g, encodeURIComponent)
}
