import { compareSchemas, type Comparison } from './compare-schemas.ts'
import type { Finding } from './comparer.ts'
import { describeFinding } from './describe-finding.ts'
import type { Placed } from '../placed.ts'

export interface SchemaDetail {
  readonly text: string
  /** Clients of the old version may fail with the new one. */
  readonly breaking: boolean
}

export interface VersionComparison {
  readonly details: readonly SchemaDetail[]
  /** Named schemas that both versions refer to. A breaking change in one of them also breaks this schema. */
  readonly assumed: ReadonlySet<string>
}

export interface VersionOptions {
  /** The schema describes a response, not a request. */
  readonly isResponse: boolean
  readonly isCoerced?: boolean
}

/**
 * Returns the differences between two versions of a schema. A request that is valid for the old version must be valid
 * for the new one; a response that is valid for the new version must be valid for the old one.
 */
export function compareVersions(before: Placed, after: Placed, options: VersionOptions): VersionComparison {
  const { isResponse, isCoerced = false } = options
  const [sub, sup] = isResponse ? [after, before] : [before, after]
  const forward = compareSchemas(sub, sup, { isResponse, isCoerced })
  const reverse = compareSchemas(sup, sub, { isCoerced })
  const details = new Map<string, SchemaDetail>()
  const add = (finding: Finding, breaking: boolean, isNarrowed: boolean) => {
    const text = describeFinding(finding, { isResponse, isNarrowed })
    if (!details.has(text)) details.set(text, { text, breaking })
  }
  for (const finding of forward.findings) add(finding, true, !isResponse)
  for (const finding of listNonBreaking(forward, reverse)) {
    const isNote = forward.notes.includes(finding)
    add(finding, false, isNote ? !isResponse : isResponse)
  }
  return { details: [...details.values()], assumed: forward.assumed }
}

/** Returns the non-breaking differences, without those already reported for the same path. */
function listNonBreaking(forward: Comparison, reverse: Comparison): readonly Finding[] {
  const reported = new Set(forward.findings.flatMap(({ path, keyword }) => [`${path} ${keyword}`, `${path} whole`]))
  const notes = forward.notes.filter(({ path }) => !reported.has(`${path} whole`))
  for (const { path } of notes) reported.add(`${path} required`)
  const others = reverse.findings.filter(({ path, keyword }) => !reported.has(`${path} ${keyword}`))
  const remaining = others.filter(({ path, keyword }) => keyword !== 'never' || !reported.has(`${path} required`))
  return [...notes, ...remaining]
}
