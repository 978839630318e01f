import { compareSchemas, type Comparison } from './compare-schemas.ts'
import type { Finding } from './comparing.ts'
import { describeFinding } from './describe-finding.ts'
import type { Placed } from '../placed.ts'

export interface SchemaDetail {
  readonly text: string
  /** Who keeps to the old version may fail with the new one. */
  readonly breaking: boolean
}

export interface VersionComparison {
  readonly details: readonly SchemaDetail[]
  /** Named schemas that both versions hold: what is new in them breaks whoever depends on this one too. */
  readonly assumed: ReadonlySet<string>
}

export interface VersionOptions {
  /** What callers get, and not what they send. */
  readonly isAnswer: boolean
  readonly isCoerced?: boolean
}

/**
 * What differs between two versions of a schema. Callers send what the old one takes, which the new one has to take too;
 * what they get by the new one has to be something that the old one takes.
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

/** What differs and breaks nobody, less what was told of the same place already. */
function listHarmless(there: Comparison, back: Comparison): readonly Finding[] {
  const told = new Set(there.findings.flatMap(({ path, keyword }) => [`${path} ${keyword}`, `${path} whole`]))
  const notes = there.notes.filter(({ path }) => !told.has(`${path} whole`))
  for (const { path } of notes) told.add(`${path} required`)
  const others = back.findings.filter(({ path, keyword }) => !told.has(`${path} ${keyword}`))
  const withoutTwice = others.filter(({ path, keyword }) => keyword !== 'never' || !told.has(`${path} required`))
  return [...notes, ...withoutTwice]
}
