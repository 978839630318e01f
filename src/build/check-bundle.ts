import type { Metafile } from 'esbuild'
import path from 'node:path'
import type { Diagnostic } from '../kit/index.ts'
import type { Entries } from './find-entries.ts'
import { findOwnPaths, type OwnPathCache } from './find-own-paths.ts'
import { makePathFilter } from './guard-sources.ts'
import { loadImportPlace } from './load-place.ts'
import { makeDiagnostic, makePlace } from './make-diagnostic.ts'
import { findNativeCode, findNativePackages } from './native-packages.ts'
import { outputNameOf, type Bundle } from './open-bundler.ts'
import { isOwnInput, projectPath } from './project-path.ts'

type Input = Metafile['inputs'][string]
type Import = Input['imports'][number]

/**
 * Checks what only the bundle reveals: default exports, files outside the project, native add-ons, code that asks for its
 * own path.
 * @param ownPaths cache of the previous build
 */
export async function checkBundle(
  root: string,
  bundle: Bundle,
  entries: Entries,
  ownPaths?: OwnPathCache,
): Promise<Diagnostic[]> {
  const { inputs } = bundle.metafile
  return [
    ...checkExports(bundle, entries),
    ...(await checkOutside(root, inputs)),
    ...(await checkNative(root, inputs)),
    ...(await checkOwnPaths(root, bundle, ownPaths)),
  ]
}

function checkExports(bundle: Bundle, { actions, migrations }: Entries): Diagnostic[] {
  const exportsOf = new Map(
    Object.entries(bundle.metafile.outputs).map(([file, output]) => [outputNameOf(file), output.exports]),
  )
  const hasDefault = (file: string) => exportsOf.get(`${bundle.entries.get(file)}.js`)?.includes('default') === true
  const problem = (code: 'WP_BUILD_ACTION_NO_CLASS' | 'WP_BUILD_MIGRATION_NO_EXPORT') => (file: string) =>
    makeDiagnostic(code, makePlace(file, 1), { parameters: { file } })
  const without = (files: readonly { readonly file: string }[]) =>
    files.map(({ file }) => file).filter((file) => !hasDefault(file))
  return [
    ...without(actions).map(problem('WP_BUILD_ACTION_NO_CLASS')),
    ...without(migrations.filter(({ declared }) => declared === undefined)).map(
      problem('WP_BUILD_MIGRATION_NO_EXPORT'),
    ),
  ]
}

/** A link or path out of the project would include foreign files. Packages may be anywhere. */
export async function checkOutside(root: string, inputs: Metafile['inputs']): Promise<Diagnostic[]> {
  const diagnostics: Diagnostic[] = []
  const isAllowed = makePathFilter(root)
  for (const [file, { imports }] of Object.entries(inputs)) {
    for (const { path: target, original, external } of imports) {
      if (external || isOwnInput(target) || original === undefined) continue
      const isPath = isOwnInput(file) && /^[./#]/.test(original)
      if (!isPath && isAllowed(path.resolve(root, target))) continue
      const place = await loadImportPlace(root, file, original)
      diagnostics.push(makeDiagnostic('WP_BUILD_OUTSIDE', place, { parameters: { name: original } }))
    }
  }
  return diagnostics
}

/** Checks for native code: imported add-ons, and packages that locate theirs at run time. */
async function checkNative(root: string, inputs: Metafile['inputs']): Promise<Diagnostic[]> {
  const packages = findNativePackages(root, inputs)
  const addons = Object.keys(inputs)
    .filter((file) => file.endsWith('.node') && !packages.some(({ folder }) => file.startsWith(`${folder}/`)))
    .map((file) => ({ file, reason: `${projectPath(root, path.join(root, file))} is native code` }))
  return Promise.all(
    [...packages, ...addons].map(async ({ file, reason }) => {
      const { importer, original } = findOwnImport(inputs, file)
      const place = await loadImportPlace(root, importer, original)
      return makeDiagnostic('WP_BUILD_NATIVE', place, { parameters: { name: original, reason } })
    }),
  )
}

/** Checks for code that reads files at its own path: of the project, and the first place of each package. */
async function checkOwnPaths(root: string, bundle: Bundle, known?: OwnPathCache): Promise<Diagnostic[]> {
  const { inputs } = bundle.metafile
  const diagnostics: Diagnostic[] = []
  const packages = new Set<string>()
  for (const { file, line, column, lineText, text } of findOwnPaths(root, bundle, known)) {
    const input = path.relative(root, file).split(path.sep).join('/')
    const name = projectPath(root, file)
    if (isOwnInput(input)) {
      const place = makePlace(name, line, { column, length: text.length, source: lineText })
      // Files that are named by new URL are part of the release; the others were replaced before.
      if (text !== 'import.meta.url')
        diagnostics.push(makeDiagnostic('WP_BUILD_OWN_PATH', place, { parameters: { text } }))
      continue
    }
    const owner = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name.slice(name.lastIndexOf('node_modules/')))?.[1] ?? name
    if (packages.has(owner)) continue
    const folder = packagePath.exec(file)?.[0]
    if (folder !== undefined && findNativeCode(folder) !== undefined) continue // reported, or optional
    packages.add(owner)
    const { importer, original } = findOwnImport(inputs, input in inputs ? input : findBundled(inputs, input))
    const place = await loadImportPlace(root, importer, original)
    const parameters = { name: owner, text, place: `${name}:${line}` }
    diagnostics.push(makeDiagnostic('WP_BUILD_PACKAGE_PATH', place, { parameters }))
  }
  return diagnostics
}

/** A package may be bundled itself: its source map then names files that are no inputs. Returns one that leads to it. */
function findBundled(inputs: Metafile['inputs'], source: string): string {
  const folder = packagePath.exec(source)?.[0]
  return Object.keys(inputs).find((input) => folder !== undefined && input.startsWith(`${folder}/`)) ?? source
}

const packagePath = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

/** Finds the project's own import that caused a file to be bundled, breadth first. */
function findOwnImport(inputs: Metafile['inputs'], file: string): { importer: string; original: string } {
  const seen = new Set([file])
  const queue = [file]
  for (const target of queue) {
    for (const [importer, original] of importersOf(inputs, target)) {
      if (isOwnInput(importer)) return { importer, original }
      if (seen.has(importer)) continue
      seen.add(importer)
      queue.push(importer)
    }
  }
  return { importer: file, original: file }
}

function importersOf(inputs: Metafile['inputs'], target: string): [string, string][] {
  const leadsThere = ({ path: file, external }: Import) => !external && file === target
  return Object.entries(inputs).flatMap(([importer, { imports }]) =>
    imports.filter(leadsThere).map(({ original }): [string, string] => [importer, original ?? target]),
  )
}
