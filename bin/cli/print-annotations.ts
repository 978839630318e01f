import { existsSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { formatAnnotations, readEnvironment, variable, type Diagnostic } from '../../src/kit/index.ts'

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
