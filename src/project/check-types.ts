import path from 'node:path'
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import type { Diagnostic } from '../kit/index.ts'
import { errors } from './errors.ts'

export interface TypeReport {
  readonly ok: boolean
  /** The compiler's output. */
  readonly output: string
  /** The errors in the output that have a location. */
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Checks a project with its own TypeScript.
 * @throws WP_PROJECT_NO_TYPESCRIPT
 */
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

/** Parses the errors that TypeScript prints without `--pretty`. Indented lines continue the previous message. */
export function parseTypeErrors(output: string): Diagnostic[] {
  const entries = output.split(/\r?\n(?=\S)/).map((entry) => /^(.+?)\((\d+),(\d+)\): error (TS\d+): (.*)$/s.exec(entry))
  return entries.flatMap((found) => {
    if (found === null) return []
    const [, file = '', line, column, code = '', message = ''] = found
    const position = { line: Number(line), column: Number(column) }
    return { code, severity: 'error', message, file, range: { start: position, end: position } } as const
  })
}
