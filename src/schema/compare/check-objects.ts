import { reportKeyword } from './check-numbers.ts'
import { checkCount } from './check-strings.ts'
import { checkRest } from './check-rest.ts'
import type { Check } from './comparer.ts'
import { declaredNames, fieldOf, mayAllowUndeclared } from './declared.ts'
import { isKeywords, mapIn, placeIn, type Keywords } from '../placed.ts'

export function checkObjects(check: Check): void {
  const { types, subs } = check
  if (!types.has('object')) return
  const required = requiredOf(subs.map(({ schema }) => schema))
  const fields = { required, declared: declaredNames(subs), isOpen: mayAllowUndeclared(subs) }
  checkRequired(check, fields)
  checkCount({ ...check, subs: [...subs, { ...subs[0]!, schema: { minProperties: required.size } }] }, [
    'minProperties',
    'maxProperties',
  ])
  checkFields(check, fields)
  checkRest(check)
  checkNames(check)
  checkDependents(check, required)
}

interface Fields {
  /** Names of the required fields. */
  readonly required: ReadonlySet<string>
  /** Names of the declared fields. */
  readonly declared: ReadonlySet<string>
  /** Other fields are allowed too. */
  readonly isOpen: boolean
}

function requiredOf(schemas: readonly Keywords[]): ReadonlySet<string> {
  return new Set(schemas.flatMap(({ required }) => (Array.isArray(required) ? (required as string[]) : [])))
}

/** Returns true if `subs` allow the field: by name, by pattern or through `additionalProperties`. */
function isKnown({ subs }: Check, { required, declared, isOpen }: Fields, name: string): boolean {
  return isOpen || declared.has(name) || required.has(name) || subs.some((sub) => fieldOf(sub, name).length > 0)
}

function checkRequired(check: Check, fields: Fields): void {
  const { comparer, path, sup } = check
  for (const name of requiredOf([sup.schema])) {
    if (fields.required.has(name)) continue
    // `checkFields` reports a field that responses no longer contain.
    const isGone = comparer.isResponse && !isKnown(check, fields, name)
    if (isGone && mapIn(sup, sup.schema['properties']).has(name)) continue
    const sub = fields.declared.has(name) ? 'optional' : undefined
    comparer.report({ path: join(path, name), keyword: 'required', sub })
  }
}

function checkFields(check: Check, fields: Fields): void {
  const { comparer, path, subs, sup } = check
  const wanted = mapIn(sup, sup.schema['properties']).keys()
  for (const name of new Set([...fields.declared, ...wanted])) {
    const at = join(path, name)
    if (!isKnown(check, fields, name)) {
      if (comparer.isResponse) comparer.report({ path: at, keyword: 'gone' })
      else comparer.note({ path: at, keyword: 'new' })
      continue
    }
    const targets = fieldOf(sup, name)
    const parts = subs.flatMap((sub) => fieldOf(sub, name))
    for (const target of targets) comparer.compare(parts.length === 0 ? [placeIn(sup, true)] : parts, target, at)
    if (comparer.isCoerced) noteDefault(check, name)
  }
}

function noteDefault({ comparer, path, subs, sup }: Check, name: string): void {
  const defaultOf = (schema: Keywords | undefined) => {
    const field = (schema?.['properties'] as Keywords | undefined)?.[name]
    return isKeywords(field) ? field['default'] : undefined
  }
  const [before, after] = [defaultOf(subs[0]?.schema), defaultOf(sup.schema)]
  if (JSON.stringify(before) === JSON.stringify(after)) return
  comparer.note({ path: join(path, name), keyword: 'default', sub: before, sup: after })
}

function checkNames(check: Check): void {
  const { comparer, path, subs, sup } = check
  if (sup.schema['propertyNames'] === undefined) return
  const own = subs.map((sub) => placeIn(sub, sub.schema['propertyNames']))
  const text = { ...sup, schema: textOnly }
  if (comparer.attempt(() => comparer.compare([...own, text], placeIn(sup, sup.schema['propertyNames']), path)).length)
    reportKeyword(check, 'propertyNames')
}

const textOnly: Keywords = { type: 'string' }

function checkDependents(check: Check, required: ReadonlySet<string>): void {
  const wanted = check.sup.schema['dependentRequired']
  if (!isKeywords(wanted)) return
  const dependents = (schema: Keywords, name: string) =>
    isKeywords(schema['dependentRequired']) ? [schema['dependentRequired'][name] ?? []].flat() : []
  const holds = Object.keys(wanted).every((name) => {
    const has = new Set([...required, ...check.subs.flatMap(({ schema }) => dependents(schema, name))])
    return dependents(check.sup.schema, name).every((dependent) => has.has(dependent))
  })
  if (!holds) reportKeyword(check, 'dependentRequired')
}

export function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
