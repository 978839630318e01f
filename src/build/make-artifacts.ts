import type { Metafile } from 'esbuild'
import type { Artifact } from '../release/index.ts'
import { linkArtifacts, type Linkable } from './link-artifacts.ts'
import { outputNameOf, resolveSource, type Bundle } from './open-bundler.ts'
import { isPackagePath, projectPath } from './project-path.ts'

interface SourceMap {
  readonly sources: readonly string[]
  readonly sourcesContent?: readonly (string | null)[]
  readonly mappings: string
}

/** Outputs as they were written, by their content: most are the same from one build to the next. */
export type WrittenOutputs = Map<string, WrittenOutput>

interface WrittenOutput {
  readonly text: string
  readonly map: SourceMap
  /** Contents by what was put in the place of imports. */
  readonly contents: Map<string, string>
}

/**
 * Makes the artifacts of a bundle, by output name: named by content, with source maps that name the project's files.
 * @param written of the build before; holds that of this build afterwards
 */
export function makeArtifacts(
  root: string,
  bundle: Bundle,
  written: WrittenOutputs = new Map(),
): Map<string, Artifact> {
  const before = new Map(written)
  written.clear()
  const imports = new Map(
    Object.entries(bundle.metafile.outputs).map(([file, output]) => [outputNameOf(file), importsOf(output)]),
  )
  const modules = [...bundle.outputs].map(([name, { code, map }]): Linkable => {
    const key = `${code.hash} ${map.hash}`
    const output = before.get(key) ?? {
      text: code.text.trimEnd(),
      map: localize(root, JSON.parse(map.text) as SourceMap),
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

function write({ text, map, contents }: WrittenOutput, imports: Resolved, header: string): string {
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
  contents.clear() // only the last is asked for again
  contents.set(key, content)
  return content
}

/** Sources named as the project names them. Those of packages keep their lines but not their text: nobody edits it here. */
function localize(root: string, map: SourceMap): SourceMap {
  const names = map.sources.map((source) => projectPath(root, resolveSource(root, decodeURIComponent(source))))
  const sourcesContent = names.map((name, index) =>
    isPackagePath(name) ? null : (map.sourcesContent?.[index]?.replaceAll('\r\n', '\n') ?? null),
  )
  return { ...map, sources: names.map(encodeSource), sourcesContent }
}

/** Sources are URLs: readable, but for what would end a path. */
function encodeSource(name: string): string {
  return encodeURI(name).replace(/[?#]/g, encodeURIComponent)
}
