import type { DefinitionCode } from './errors.ts'
import { includeSiteOf } from './load-context.ts'
import { isEmpty, type Entry, type Node, valueOf } from './node.ts'
import type { Report } from './report.ts'
import type { Span } from './source.ts'

/** A top-level map of waypost.yml, used to resolve references to its names. */
export interface Section {
  readonly key: string
  readonly entries: ReadonlyMap<string, Entry>
  /** The error code for unknown names. */
  readonly code: DefinitionCode
  /** Whether parts could not be read, so unknown names may exist. */
  readonly incomplete: boolean
}

/**
 * Creates a section.
 * @param report knows whether some keys of the map are unclear
 */
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

/**
 * Checks that the section has the name. If not, reports it with the most similar name.
 * @param own names that exist without being declared
 */
export function checkName(
  section: Section,
  name: string,
  { at, report, own = [] }: { readonly at: Span; readonly report: Report; readonly own?: readonly string[] },
): boolean {
  if (section.entries.has(name) || own.includes(name)) return true
  const hint = suggestName(section, name, { report, own })
  if (!section.incomplete) report.add({ code: section.code, at, parameters: { name }, hint })
  return false
}

const maxListed = 8

function suggestName(
  { key, entries }: Section,
  name: string,
  { report, own }: { readonly report: Report; readonly own: readonly string[] },
): string | undefined {
  const all = [...own, ...entries.keys()]
  const suggestion = report.findNearest(name, all)
  if (suggestion !== undefined) return didYouMean(suggestion, entries.get(suggestion))
  if (entries.size === 0 || all.length > maxListed) return `Add it under "${key}:"`
  return `Available: ${all.join(', ')}`
}

/**
 * Returns the hint for a mistyped name.
 * @param entry the definition of the name, if a project file contains it
 */
export function didYouMean(name: string, entry: Entry | undefined): string {
  if (entry === undefined) return `Did you mean "${name}"?`
  const { file, line } = includeSiteOf(entry.keySpan)
  return `Did you mean "${name}" (${file}:${line})?`
}
