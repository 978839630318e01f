import assert from 'node:assert/strict'
import { buildRelease } from '../../src/build/index.ts'
import type { Definition } from '../../src/definition/index.ts'
import type { Diagnostic } from '../../src/kit/index.ts'

export async function diagnose(root: string, definition: Definition): Promise<readonly Diagnostic[]> {
  const { release, diagnostics } = await buildRelease({ root, version: '1.0.0', definition })
  assert.equal(
    release === undefined,
    diagnostics.some(({ severity }) => severity === 'error'),
  )
  return diagnostics
}

/** `file:line:column-end  message (hint) CODE`, as shown to users. */
export function show({ file, range, message, hint, code, source }: Diagnostic): string {
  const marked = source?.slice(range.start.column - 1, range.end.column - 1) ?? ''
  return [`${file}:${range.start.line}:${range.start.column} <${marked}>`, message, hint ?? '', code].join(' | ')
}
