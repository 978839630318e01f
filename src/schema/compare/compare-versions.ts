import { compareSchemas, type Comparison } from './compare-schemas.ts'
import type { Finding } from './comparing.ts'
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
  readonly isAnswer: boolean
  readonly isCoerced?: boolean
}

/**
 * Returns the differences between two versions of a schema. A request that is valid for the old version must be valid
 * for the new one; a response that is valid for the new version must be valid for the old one.
 */
export function compareVersions(before: Placed, after: Placed, options: VersionOptions): VersionComparison {
  const { isAnswer, isCoerced = false } = options
  const [sub, sup] = isAnswer ? [after, before] : [before, after]
  const there = compareSchemas(sub, sup, { isAnswer, isCoerced })
  const back = compareSchemas(sup, sub, { isCoerced })
  const details = new Map<string, SchemaDetail>()
  const add = (finding: Finding, breaking: boolean, isNarrowed: boolean) => {
    const text = describeFinding(finding, { isAnswer, isNarrowed })
    if (!details.has(text)) details.set(text, { text, breaking })
  }
  for (const finding of there.findings) add(finding, true, !isAnswer)
  for (const finding of listHarmless(there, back)) {
    const isNote = there.notes.includes(finding)
    add(finding, false, isNote ? !isAnswer : isAnswer)
  }
  return { details: [...details.values()], assumed: there.assumed }
}

/** Returns the non-breaking differences, without those already reported for the same path. */
function listHarmless(there: Comparison, back: Comparison): readonly Finding[] {
  const told = new Set(there.findings.flatMap(({ path, keyword }) => [`${path} ${keyword}`, `${path} whole`]))
  const notes = there.notes.filter(({ path }) => !told.has(`${path} whole`))
  for (const { path } of notes) told.add(`${path} required`)
  const others = back.findings.filter(({ path, keyword }) => !told.has(`${path} ${keyword}`))
  const withoutTwice = others.filter(({ path, keyword }) => keyword !== 'never' || !told.has(`${path} required`))
  return [...notes, ...withoutTwice]
}
