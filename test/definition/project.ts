import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import {
  loadDefinition,
  type ClassCatalog,
  type LoadedDefinition,
  type LoadOptions,
} from '../../src/definition/index.ts'
import type { Diagnostic } from '../../src/kit/index.ts'
import { joinPlugins, loadBuiltInPlugins } from '../../src/plugin/index.ts'

export interface TemporaryProject extends Disposable {
  readonly root: string
  write(file: string, content: string | Uint8Array): void
}

/** Creates a project of the given files in a temporary folder, which is removed on disposal. */
export function makeProject(files: Readonly<Record<string, string>>): TemporaryProject {
  const root = mkdtempSync(path.join(os.tmpdir(), 'waypost-definition-'))
  const write = (file: string, content: string | Uint8Array): void => {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
    writeFileSync(path.join(root, file), content)
  }
  for (const [file, content] of Object.entries(files)) write(file, content)
  return { root, write, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

/** Returns the classes of the built-in plugins. */
export async function loadClasses(): Promise<ClassCatalog> {
  const { actions, connections } = joinPlugins(await loadBuiltInPlugins())
  const configsOf = (all: ReadonlyMap<string, { readonly class: { readonly config?: unknown } }>) =>
    Object.fromEntries([...all].map(([name, one]) => [name, { config: one.class.config }]))
  return { actions: configsOf(actions), connections: configsOf(connections) } as unknown as ClassCatalog
}

/** Loads a project of the given files. */
export async function loadFiles(
  files: Readonly<Record<string, string>>,
  options?: LoadOptions,
): Promise<LoadedDefinition> {
  using project = makeProject(files)
  return await loadDefinition(project.root, options)
}

/** Returns a problem as one line: see `Case`. */
export function showProblem({ file, range, source = '', ...problem }: Diagnostic): string {
  const { start, end } = range
  const marked = source.slice(start.column - 1, end.line === start.line ? end.column - 1 : undefined)
  const severity = problem.severity === 'warning' ? 'warning ' : ''
  const hint = problem.hint === undefined ? '' : ` | ${problem.hint}`
  const chain = (problem.includedAt ?? []).map((site) => ` < ${site.file}:${site.line}:${site.column}`)
  return `${file}:${start.line}:${start.column} «${marked}» ${severity}${problem.code} ${problem.message}${hint}${chain.join('')}`
}
