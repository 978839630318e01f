import type { Diagnostic } from '../kit/index.ts'

/** The errors in what TypeScript prints without `--pretty`; lines that are indented go on with the message before. */
export function parseTypeErrors(output: string): Diagnostic[] {
  const entries = output.split(/\r?\n(?=\S)/).map((entry) => /^(.+?)\((\d+),(\d+)\): error (TS\d+): (.*)$/s.exec(entry))
  return entries.flatMap((found) => {
    if (found === null) return []
    const [, file = '', line, column, code = '', message = ''] = found
    const position = { line: Number(line), column: Number(column) }
    return { code, severity: 'error', message, file, range: { start: position, end: position } } as const
  })
}
