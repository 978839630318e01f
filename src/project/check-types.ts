import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants, setPriority } from 'node:os'
import { openMigrationFiles } from '../build/index.ts'
import type { Diagnostic } from '../kit/index.ts'
import { errors } from './errors.ts'

export interface TypeReport {
  readonly ok: boolean
  /** The compiler's output. */
  readonly output: string
  /** The errors in the output that have a location. The message is the innermost reason, the hint the first line. */
  readonly diagnostics: readonly Diagnostic[]
  /** The parts of the output without a location. */
  readonly rest: string
}

export interface CheckTypesOptions {
  /** Stops the compiler. */
  readonly signal?: AbortSignal | undefined
  /** Whether other processes run first, and what it found out is kept in `.waypost` for the next check. */
  readonly isBackground?: boolean
}

/**
 * Checks a project with its own TypeScript. If the types of tables are missing, the report contains only that, because
 * the errors of the compiler are probably consequences.
 * @throws WP_PROJECT_NO_TYPESCRIPT, or the reason of the abort
 */
export async function checkTypes(
  folder: string,
  { signal, isBackground = false }: CheckTypesOptions = {},
): Promise<TypeReport> {
  const compiler = findCompiler(folder)
  const words = [compiler, '--noEmit', '--pretty', 'false', ...(isBackground ? incremental : [])]
  const output: string[] = []
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(process.execPath, words, {
      cwd: folder,
      signal,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (isBackground && child.pid !== undefined) yieldTo(child.pid)
    child.stdout.on('data', (part: Buffer) => output.push(part.toString()))
    child.stderr.on('data', (part: Buffer) => output.push(part.toString()))
    child.once('error', reject)
    child.once('close', resolve)
  })
  const text = output.join('').trimEnd()
  const missing = code === 0 ? [] : await findMissingTableTypes(folder)
  if (missing.length === 0) return { ok: code === 0, output: text, ...parseTypeErrors(folder, text) }
  const lines = missing.map(({ message, hint = '' }) => `${message}. ${hint}`)
  return { ok: false, output: lines.join('\n'), diagnostics: missing, rest: '' }
}

/** A check after a small edit then takes a part of the time. */
const incremental = ['--incremental', '--tsBuildInfoFile', path.join('.waypost', 'types.tsbuildinfo')]

/** Lets other processes run first: a reload must not wait for a check. */
function yieldTo(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It may have ended, or the system does not allow it.
  }
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

/**
 * Parses the errors that TypeScript prints without `--pretty`. Indented lines continue the previous message, each with
 * the reason of the line before.
 */
function parseTypeErrors(folder: string, output: string): Pick<TypeReport, 'diagnostics' | 'rest'> {
  const diagnostics: Diagnostic[] = []
  const rest: string[] = []
  const sources = new Map<string, readonly string[]>()
  for (const entry of output.split(/\r?\n(?=\S)/)) {
    const found = /^(.+?)\((\d+),(\d+)\): error (TS\d+): (.*)$/s.exec(entry)
    if (found === null) {
      if (entry !== '') rest.push(entry)
      continue
    }
    const [, file = '', line, column, code = '', text = ''] = found
    const [first = '', ...reasons] = text.split(/\r?\n/).map((one) => one.trim())
    const start = { line: Number(line), column: Number(column) }
    const lines = linesOf(folder, file, sources)
    const source = lines[start.line - 1]
    const length = /^[\w$]+/.exec(source?.slice(start.column - 1) ?? '')?.[0].length ?? 1
    const range = { start, end: { line: start.line, column: start.column + length } }
    const reason = reasons.findLast((one) => one !== '')
    const names = reasons.flatMap((one) => /^(?:Types of property|The types of) '(.+?)' are /.exec(one)?.[1] ?? [])
    const place = names.length === 0 ? '' : `"${names.join('.')}": `
    const message =
      reason === undefined
        ? { message: first }
        : {
            message: `${place}${shortenReason(reason)}`,
            hint: explainRequest(first, lines) ?? describeHandle(first, reasons),
          }
    diagnostics.push({ code, severity: 'error', ...message, file, range, ...(source !== undefined && { source }) })
  }
  return { diagnostics, rest: rest.join('\n') }
}

/** A type that is written out says less than the name of the property. */
function shortenReason(reason: string): string {
  return reason
    .replace(
      /^Property '(.+?)' is missing in type '.*' but required in type '(.+)'\.$/,
      `Property '$1' is missing, which '$2' requires.`,
    )
    .replace(
      /^Type '\{.*\}' is missing the following properties from type '(.+?)': (.+)$/,
      `These properties of '$1' are missing: $2`,
    )
}

/** Explains that a property is missing in the request of any method, as route steps get it. */
function explainRequest(first: string, lines: readonly string[]): string | undefined {
  if (!/^Property '.+?' does not exist on type '.* \| /.test(first)) return undefined
  if (!lines.some((line) => /: Request\b(?!<)/.test(line))) return undefined
  return "Request without a method contains only what all methods have in common. Specify a method that has it: Request<'METHOD /path'>."
}

/** Says that the result of an action has the wrong type, instead of comparing two functions. */
function describeHandle(first: string, reasons: readonly string[]): string {
  const found = /^Property 'handle' in type '(.+?)' is not assignable .* 'Action<"(.+)">'\.$/.exec(first)
  if (found === null || !reasons.some((one) => one.includes("'Result<") || one.includes('Promise<Result<')))
    return first
  return `The result of handle in ${found[1]} does not have the type that ${found[2]} declares.`
}

function linesOf(folder: string, file: string, known: Map<string, readonly string[]>): readonly string[] {
  const lines = known.get(file) ?? readLines(path.resolve(folder, file))
  known.set(file, lines)
  return lines
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)
  } catch {
    return []
  }
}
