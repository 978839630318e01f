import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Definition } from '../definition/index.ts'
import type { FailingAction } from '../host/index.ts'
import type { Diagnostic } from '../kit/index.ts'
import { errors } from './errors.ts'

/** Returns a diagnostic at the action of each method that would fail. */
export async function diagnoseActions(
  folder: string,
  { routes }: Definition,
  found: readonly FailingAction[],
  severity: Diagnostic['severity'],
): Promise<readonly Diagnostic[]> {
  const diagnostics = found.map(async ({ method, path: where, message: problem }) => {
    const used = routes.find((one) => one.path === where)?.methods.find((one) => one.method === method)
    if (used === undefined) return []
    const { file, line, column } = used.action.at
    const text = await readFile(path.join(folder, file), 'utf8').catch(() => '')
    const source = text.split('\n')[line - 1]?.trimEnd() ?? ''
    const range = { start: { line, column }, end: { line, column: Math.max(source.length + 1, column) } }
    const { code, message, hint = '' } = errors.WP_PROJECT_ACTION({ method, path: where, problem })
    return [{ code, severity, message, hint, file, range, source }]
  })
  return (await Promise.all(diagnostics)).flat()
}
