import path from 'node:path'
import {
  formatDiagnostics,
  type Diagnostic,
  wrapWords,
  formatAnnotations,
  readEnvironment,
  variable,
} from '../../src/kit/index.ts'
import { hasColour, spellForFolder } from './format.ts'
import { existsSync, realpathSync } from 'node:fs'

/** Enough for several screens. */
const maxShown = 100

/** Prints problems in the user's files, in the width of the terminal. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], stream: NodeJS.WriteStream): void {
  if (diagnostics.length === 0) return
  const width = widthOf(stream)
  const shown = diagnostics.slice(0, maxShown).map(withCommands)
  stream.write(`${formatDiagnostics(shown, { colour: hasColour(stream), width }).trimEnd()}\n\n`)
  const rest = diagnostics.length - shown.length
  if (rest > 0) stream.write(`And ${rest} more. List all problems with waypost validate --json.\n\n`)
}

function withCommands(diagnostic: Diagnostic): Diagnostic {
  const { hint } = diagnostic
  return hint === undefined ? diagnostic : { ...diagnostic, hint: spellForFolder(hint) }
}

/** Returns the output width: that of the terminal, at most 120; 100 without a terminal. */
export function widthOf(stream: NodeJS.WriteStream): number {
  return Math.min(stream.columns || 100, 120)
}

/** Wraps a text at spaces to the width of the terminal. All lines but the first are indented. */
export function wrap(text: string, indent: number, stream: NodeJS.WriteStream = process.stdout): string {
  return wrapWords(text, Math.max(20, widthOf(stream) - indent)).join(`\n${' '.repeat(indent)}`)
}

/**
 * Prints problems in the files of a folder as workflow commands of GitHub Actions, with paths relative to the
 * repository.
 */
export function printAnnotations(diagnostics: readonly Diagnostic[], folder: string): void {
  const real = realpathSync(folder)
  const relative = path.relative(findRepository(real), real).split(path.sep).join('/')
  for (const line of formatAnnotations(diagnostics, relative)) process.stdout.write(`${line}\n`)
}

/** Returns the root of the Git checkout that contains a folder, else the workflow's workspace, else the folder. */
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
