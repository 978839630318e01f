import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Diagnostic } from '../kit/index.ts'
import { errors } from './errors.ts'
import { parseTypeErrors } from './parse-type-errors.ts'

export interface TypeReport {
  readonly ok: boolean
  /** What the compiler said. */
  readonly output: string
  /** What it said of places in files. */
  readonly diagnostics: readonly Diagnostic[]
}

/** Runs the project's own TypeScript over it. @throws WP_PROJECT_NO_TYPESCRIPT */
export async function checkTypes(folder: string): Promise<TypeReport> {
  const compiler = findCompiler(folder)
  const output: string[] = []
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(process.execPath, [compiler, '--noEmit', '--pretty', 'false'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.on('data', (part: Buffer) => output.push(part.toString()))
    child.stderr.on('data', (part: Buffer) => output.push(part.toString()))
    child.once('error', reject)
    child.once('close', resolve)
  })
  const text = output.join('').trimEnd()
  return { ok: code === 0, output: text, diagnostics: parseTypeErrors(text) }
}

function findCompiler(folder: string): string {
  try {
    const manifest = createRequire(path.join(folder, 'package.json')).resolve('typescript/package.json')
    return path.join(path.dirname(manifest), 'bin', 'tsc')
  } catch (cause) {
    throw errors.WP_PROJECT_NO_TYPESCRIPT({}, { cause })
  }
}
