import type { Metafile } from 'esbuild'
import path from 'node:path'
import type { SourceResults } from './guard-sources.ts'
import { isOwnInput } from './project-path.ts'
import { sourceLoader } from './transform-source.ts'

/** A file with more importers is an output of its own, so that a save of it does not bundle them again. */
const maxImporters = 50

/** What esbuild copies from one file into others, and how it is told that a call may be left out. */
const copied = /\benum\b|NO_SIDE_EFFECTS/

/**
 * Returns the files of the project that many others import, with all source files that they import. Their importers do not
 * depend on anything in them but the names of their exports.
 */
export function findShared(
  root: string,
  { inputs }: Metafile,
  { entries, known }: { readonly entries: ReadonlyMap<string, string>; readonly known: SourceResults },
): readonly string[] {
  const importers = new Map<string, number>()
  for (const { imports } of Object.values(inputs)) {
    for (const file of new Set(imports.map((one) => one.path))) importers.set(file, (importers.get(file) ?? 0) + 1)
  }
  const mayShare = (file: string) =>
    isOwnInput(file) &&
    sourceLoader(file) !== undefined &&
    inputs[file]?.format === 'esm' &&
    !entries.has(file) &&
    isIndependent(root, file, known)
  const often = [...importers].filter(([file, count]) => count > maxImporters && mayShare(file)).map(([file]) => file)
  const shared = new Set(often)
  for (const file of shared) {
    for (const one of inputs[file]!.imports) if (!one.external && mayShare(one.path)) shared.add(one.path)
  }
  return [...shared].sort()
}

/** Whether importers of a file that was read contain nothing of its code. */
export function isIndependent(root: string, file: string, known: SourceResults): boolean {
  const contents = known.get(path.join(root, file))?.contents
  if (contents === undefined) return false
  const text = typeof contents === 'string' ? contents : Buffer.from(contents).toString('utf8')
  return !copied.test(text)
}

/** Code that imports shared files, so that esbuild puts them into chunks, whatever else imports them. */
export function importShared(files: readonly string[]): string {
  return files.map((file) => `export * from ${JSON.stringify(`./${file}`)}\n`).join('')
}
