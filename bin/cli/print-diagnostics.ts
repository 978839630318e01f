import path from 'node:path'
import {
  formatDiagnostics,
  type Diagnostic,
  wrapWords,
  formatAnnotations,
  readEnvironment,
  variable,
} from '../../src/kit/index.ts'
import { hasColour } from './format.ts'
import { existsSync, realpathSync } from 'node:fs'

/** So many fill several screens: what is mended first is among them. */
const mostShown = 100

/** Prints problems in the user's files, as wide as the terminal is. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], stream: NodeJS.WriteStream): void {
  if (diagnostics.length === 0) return
  const width = widthOf(stream)
  const shown = diagnostics.slice(0, mostShown)
  stream.write(`${formatDiagnostics(shown, { colour: hasColour(stream), width }).trimEnd()}\n\n`)
  const rest = diagnostics.length - shown.length
  if (rest > 0) stream.write(`And ${rest} more. List all problems with waypost validate --json.\n\n`)
}

/** Columns to print in: those of the terminal, 120 at most; 100 where there is none. */
export function widthOf(stream: NodeJS.WriteStream): number {
  return Math.min(stream.columns || 100, 120)
}

/** Breaks a text at spaces, to be as wide as the terminal; every line but the first is indented. */
export function wrap(text: string, indent: number, stream: NodeJS.WriteStream = process.stdout): string {
  return wrapWords(text, Math.max(20, widthOf(stream) - indent)).join(`\n${' '.repeat(indent)}`)
}

/** Prints problems in the files of a folder as workflow commands of GitHub Actions, their paths from the repository. */
export function printAnnotations(diagnostics: readonly Diagnostic[], folder: string): void {
  const real = realpathSync(folder)
  const relative = path.relative(findRepository(real), real).split(path.sep).join('/')
  for (const line of formatAnnotations(diagnostics, relative)) process.stdout.write(`${line}\n`)
}

/** The top of the Git checkout around a folder, else the workspace of the workflow around it, else the folder. */
function findRepository(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return at
    if (at === path.dirname(at)) return findWorkspace(folder)
  }
}

function findWorkspace(folder: string): string {
  const named = variable(readEnvironment(), 'GITHUB_WORKSPACE')
  const workspace = named !== undefined && existsSync(named) ? realpathSync(named) : folder
  const isInside = !path.relative(workspace, folder).startsWith('..')
  return isInside ? workspace : folder
}
