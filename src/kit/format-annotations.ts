import type { Diagnostic } from './diagnostic.ts'

/**
 * Problems as workflow commands of GitHub Actions, one a line, which become annotations of the files in a pull request.
 * @param folder the project's folder relative to the repository, with forward slashes; empty if it is the repository
 */
export function formatAnnotations(diagnostics: readonly Diagnostic[], folder: string): string[] {
  return diagnostics.map((diagnostic) => formatAnnotation(diagnostic, folder))
}

function formatAnnotation({ severity, code, message, hint, file, range, includedAt }: Diagnostic, folder: string) {
  const { start, end } = range
  const properties: Record<string, string | number> = {
    file: folder === '' ? file : `${folder}/${file}`,
    line: start.line,
    endLine: end.line,
    col: start.column,
    // GitHub takes columns only where the mark is on one line, and counts the last one in.
    ...(end.line === start.line ? { endColumn: Math.max(start.column, end.column - 1) } : {}),
    title: code,
  }
  const sites = (includedAt ?? []).map((site) => `included at ${site.file}:${site.line}:${site.column}`)
  const text = [message, ...(hint === undefined ? [] : [hint]), ...sites].join('\n')
  const written = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(String(value))}`)
  return `::${severity} ${written.join(',')}::${escapeData(text)}`
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
