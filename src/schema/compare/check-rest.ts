import type { Check } from './comparator.ts'
import { scopeMap, scopeIn, type ScopedSchema } from '../scoped-schema.ts'

/** Checks the fields that neither side declares by name: those that match a pattern, and the others. */
export function checkRest(check: Check): void {
  const { comparator, sup } = check
  const patterns = scopeMap(sup, sup.schema['patternProperties'])
  for (const [pattern, target] of patterns) {
    if (comparator.attempt(() => checkOne(check, target, { pattern, except: new Set() })).length > 0)
      comparator.report({ path: check.path, keyword: 'patternProperties' })
  }
  if (sup.schema['additionalProperties'] === undefined) return
  const target = scopeIn(sup, sup.schema['additionalProperties'])
  const found = comparator.attempt(() => checkOne(check, target, { except: new Set(patterns.keys()) }))
  if (found.length === 0) return
  if (target.schema === false) comparator.report({ path: check.path, keyword: 'additionalProperties' })
  else found.forEach((finding) => comparator.report(finding))
}

interface Names {
  /** Only fields whose names match this pattern. */
  readonly pattern?: string
  /** Only fields whose names match none of these patterns. */
  readonly except: ReadonlySet<string>
}

/** Checks the fields whose names are not listed against a schema. */
function checkOne({ comparator, path, subs }: Check, target: ScopedSchema, { pattern, except }: Names): void {
  const at = path === '' ? '*' : `${path}.*`
  const sure: ScopedSchema[] = []
  const unsure: ScopedSchema[][] = []
  for (const sub of subs) {
    const rest = scopeIn(sub, sub.schema['additionalProperties'])
    const patterns = scopeMap(sub, sub.schema['patternProperties'])
    const own = pattern === undefined ? undefined : patterns.get(pattern)
    if (own !== undefined) sure.push(own)
    else if (patterns.size === 0) sure.push(rest)
    // Such a field may match some of these patterns or none; which ones is unknown.
    else unsure.push([rest, ...[...patterns].filter(([name]) => !except.has(name)).map(([, one]) => one)])
  }
  const direct = comparator.attempt(() => comparator.compare(sure, target, at))
  if (direct.length === 0) return
  const holds = unsure.some(
    (options) =>
      comparator.attempt(() => options.forEach((option) => comparator.compare([...sure, option], target, at)))
        .length === 0,
  )
  if (!holds) direct.forEach((finding) => comparator.report(finding))
}
