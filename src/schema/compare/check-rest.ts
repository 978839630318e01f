import type { Check } from './comparer.ts'
import { mapIn, placeIn, type Placed } from '../placed.ts'

/** Checks the fields that neither schema declares by name: pattern matches and additional properties. */
export function checkRest(check: Check): void {
  const { comparer, sup } = check
  const patterns = mapIn(sup, sup.schema['patternProperties'])
  for (const [pattern, target] of patterns) {
    if (comparer.attempt(() => checkUndeclared(check, target, { pattern, except: new Set() })).length > 0)
      comparer.report({ path: check.path, keyword: 'patternProperties' })
  }
  if (sup.schema['additionalProperties'] === undefined) return
  const target = placeIn(sup, sup.schema['additionalProperties'])
  const found = comparer.attempt(() => checkUndeclared(check, target, { except: new Set(patterns.keys()) }))
  if (found.length === 0) return
  if (target.schema === false) comparer.report({ path: check.path, keyword: 'additionalProperties' })
  else found.forEach((finding) => comparer.report(finding))
}

interface Names {
  /** Includes only fields whose names match this pattern. */
  readonly pattern?: string
  /** Excludes fields whose names match one of these patterns. */
  readonly except: ReadonlySet<string>
}

/** Checks undeclared fields against a schema. */
function checkUndeclared({ comparer, path, subs }: Check, target: Placed, { pattern, except }: Names): void {
  const at = path === '' ? '*' : `${path}.*`
  const sure: Placed[] = []
  const unsure: Placed[][] = []
  for (const sub of subs) {
    const rest = placeIn(sub, sub.schema['additionalProperties'])
    const patterns = mapIn(sub, sub.schema['patternProperties'])
    const own = pattern === undefined ? undefined : patterns.get(pattern)
    if (own !== undefined) sure.push(own)
    else if (patterns.size === 0) sure.push(rest)
    // The field may match any of the patterns or none, so every option must be accepted.
    else unsure.push([rest, ...[...patterns].filter(([name]) => !except.has(name)).map(([, one]) => one)])
  }
  const direct = comparer.attempt(() => comparer.compare(sure, target, at))
  if (direct.length === 0) return
  const holds = unsure.some(
    (options) =>
      comparer.attempt(() => options.forEach((option) => comparer.compare([...sure, option], target, at))).length === 0,
  )
  if (!holds) direct.forEach((finding) => comparer.report(finding))
}
