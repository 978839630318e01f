import type { Diagnostic } from '../../kit/index.ts'

/** Nothing can be planned because the definition has errors. */
export class DraftBroken extends Error {
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super('the definition has errors')
    this.diagnostics = diagnostics
  }
}
