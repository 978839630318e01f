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

/** Makes the artifacts of a bundle, by output name: named by content, with source maps that name the project's files. */
export function makeArtifacts(root: string, bundle: Bundle): Map<string, Artifact> {
  const imports = new Map(
    Object.entries(bundle.metafile.outputs).map(([file, output]) => [outputNameOf(file), importsOf(output)]),
  )
  const modules = [...bundle.outputs].map(([name, { code, map }]): Linkable => {
    const text = code.text.trimEnd()
    const sourceMap = localize(root, JSON.parse(map.text) as SourceMap)
    return {
      name,
      imports: imports.get(name) ?? [],
      write: (resolve, header) => write(text, sourceMap, { resolve, header, imports: imports.get(name) ?? [] }),
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

interface Writing {
  readonly imports: readonly string[]
  readonly resolve: (name: string) => string
  readonly header: string
}

function write(text: string, map: SourceMap, { imports, resolve, header }: Writing): string {
  let code = text
  for (const name of imports) code = code.replaceAll(`./${name}`, resolve(name))
  if (code.length !== text.length)
    throw new Error('An import was written with another length: source maps would be wrong')
  const moved = header === '' ? map : { ...map, mappings: `;${map.mappings}` }
  const url = `data:application/json;base64,${Buffer.from(JSON.stringify(moved)).toString('base64')}`
  return `${header === '' ? '' : `${header}\n`}${code}\n//# sourceMappingURL=${url}\n`
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
