import { compareSchemas, type Comparison } from './compare-schemas.ts'
import type { Finding } from './comparator.ts'
import { describeFinding } from './describe-finding.ts'
import type { ScopedSchema } from '../scoped-schema.ts'

export interface SchemaDetail {
  readonly text: string
  /** Whether callers that follow the old version may fail with the new one. */
  readonly breaking: boolean
}

export interface VersionComparison {
  readonly details: readonly SchemaDetail[]
  /** Named schemas in both versions. Breaking changes of these also break the schema that uses them. */
  readonly assumed: ReadonlySet<string>
}

export interface VersionOptions {
  /** Whether the schema describes responses, not requests. */
  readonly isAnswer: boolean
  readonly isCoerced?: boolean
}

/**
 * Describes the differences between two versions of a schema. The new version of a request must accept everything that
 * the old one accepts. The new version of a response must produce only what the old one accepts.
 */
export function compareVersions(before: ScopedSchema, after: ScopedSchema, options: VersionOptions): VersionComparison {
  const { isAnswer, isCoerced = false } = options
  const [sub, sup] = isAnswer ? [after, before] : [before, after]
  const forward = compareSchemas(sub, sup, { isAnswer, isCoerced })
  const backward = compareSchemas(sup, sub, { isCoerced })
  const details = new Map<string, SchemaDetail>()
  const add = (finding: Finding, breaking: boolean, isNarrowed: boolean) => {
    const text = describeFinding(finding, { isAnswer, isNarrowed })
    if (!details.has(text)) details.set(text, { text, breaking })
  }
  for (const finding of forward.findings) add(finding, true, !isAnswer)
  for (const finding of listNonBreaking(forward, backward)) {
    const isNote = forward.notes.includes(finding)
    add(finding, false, isNote ? !isAnswer : isAnswer)
  }
  return { details: [...details.values()], assumed: forward.assumed }
}

/** Returns the differences that break no callers, without those already reported for the same path. */
function listNonBreaking(forward: Comparison, backward: Comparison): readonly Finding[] {
  const reported = new Set(forward.findings.flatMap(({ path, keyword }) => [`${path} ${keyword}`, `${path} whole`]))
  const notes = forward.notes.filter(({ path }) => !reported.has(`${path} whole`))
  for (const { path } of notes) reported.add(`${path} required`)
  const others = backward.findings.filter(({ path, keyword }) => !reported.has(`${path} ${keyword}`))
  const unreported = others.filter(({ path, keyword }) => keyword !== 'never' || !reported.has(`${path} required`))
  return [...notes, ...unreported]
}
