import type { DefinitionCode } from './errors.ts'
import { siteOf } from './loading.ts'
import { isEmpty, type Entry, type Node, valueOf } from './node.ts'
import type { Report } from './report.ts'
import type { Span } from './source.ts'

/** One of the maps by name at the top of waypost.yml, for references to its names. */
export interface Section {
  readonly key: string
  readonly entries: ReadonlyMap<string, Entry>
  /** What a problem with one of its names is called. */
  readonly code: DefinitionCode
  /** Parts of it could not be read: a name that is not found may stand there. */
  readonly incomplete: boolean
}

/** @param report in which it was noted if the map's keys are not all clear */
export function makeSection(
  root: Node,
  key: string,
  { code, report }: { code: DefinitionCode; report: Report },
): Section {
  const value = valueOf(root, key)
  const entries = value?.kind === 'map' ? value.entries : new Map<string, Entry>()
  const isUnclear = report.isUnclear(value ?? root)
  const isKnown = !isUnclear && (value === undefined || value.kind === 'map' || isEmpty(value))
  return { key, entries, code, incomplete: !isKnown }
}

/** Whether the section has the name; if not, that is reported, with the nearest name that it has. */
export function checkName(section: Section, name: string, { at, report }: { at: Span; report: Report }): boolean {
  if (section.entries.has(name)) return true
  if (!section.incomplete)
    report.add({ code: section.code, at, parameters: { name }, hint: suggestName(section, name, report) })
  return false
}

const maxListed = 8

function suggestName({ key, entries }: Section, name: string, report: Report): string | undefined {
  const near = entries.get(report.findNearest(name, entries.keys()) ?? '')
  if (near !== undefined) return didYouMean(near.key, near)
  const names = [...entries.keys()].slice(0, maxListed + 1)
  if (names.length === 0 || names.length > maxListed) return `Add it under "${key}:"`
  return `Available: ${names.join(', ')}`
}

/** @param entry where the name is defined, if a file of the project defines it */
export function didYouMean(name: string, entry: Entry | undefined): string {
  if (entry === undefined) return `Did you mean "${name}"?`
  const { file, line } = siteOf(entry.keySpan)
  return `Did you mean "${name}" (${file}:${line})?`
}
