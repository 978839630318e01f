import { existsSync } from 'node:fs'
import path from 'node:path'
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { openMigrationFiles } from '../build/index.ts'
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
 * Checks a project with its own TypeScript. If the types of tables are missing, the report contains only that, because
 * the errors of the compiler are probably consequences.
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
  const missing = code === 0 ? [] : await findMissingTableTypes(folder)
  if (missing.length === 0) return { ok: code === 0, output: text, diagnostics: parseTypeErrors(text) }
  const lines = missing.map(({ message, hint = '' }) => `${message}. ${hint}`)
  return { ok: false, output: lines.join('\n'), diagnostics: missing }
}

/** Reports the connections that have migrations but no `tables.ts`. The rows of their tables have the type `any`. */
async function findMissingTableTypes(folder: string): Promise<readonly Diagnostic[]> {
  const { migrations } = await openMigrationFiles(folder)
  const start = { line: 1, column: 1 }
  return [...new Set(migrations.map(({ connection }) => connection))].flatMap((connection) => {
    const file = `migrations/${connection}/tables.ts`
    if (existsSync(path.join(folder, file))) return []
    const { code, message, hint = '' } = errors.WP_PROJECT_NO_TABLE_TYPES({ file, connection })
    return { code, severity: 'error', message, hint, file, range: { start, end: start } } as const
  })
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
