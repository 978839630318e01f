import type { JsonSchema } from '../contract/index.ts'
import { findByPointer, isSchema, parseReference } from '../schema/index.ts'
import { compareText } from './compare-text.ts'

/** What references inside a schema can refer to. */
export interface TypeScope {
  readonly schemas: Readonly<Record<string, JsonSchema>>
  /** Type alias by schema name. */
  readonly aliases: ReadonlyMap<string, string>
  /** The prefix of aliases; empty inside the namespace that declares them. */
  readonly prefix: string
  /** Set for the input of an action; undefined for values without applied defaults. */
  readonly input?: InputTypes | undefined
  /** Which properties are left out; by default `readOnly` for input, `writeOnly` for anything else. */
  readonly omitted?: 'readOnly' | 'writeOnly' | undefined
  /** The target of `#`, and its name if it has one. */
  readonly root: JsonSchema
  readonly rootName?: string
  /** Schemas that are currently being inlined, to end cycles. */
  readonly inlined: readonly JsonSchema[]
}

/** `sent` by callers, who may omit values with a default, or `received` by the action, with defaults applied. */
export interface InputTypes {
  readonly form: 'sent' | 'received'
  /** Aliases, with their namespace, of the schemas whose type differs in this form. */
  readonly aliases: ReadonlyMap<string, string>
  /** Schemas of which input and results have other properties. */
  readonly divided: ReadonlySet<string>
}

/** The target of a reference: a named schema or an inline one. */
export type Target = { readonly alias: string } | { readonly schema: JsonSchema; readonly scope: TypeScope }

/** Resolves a `$ref`; undefined if its target does not exist in the project. */
export function resolveReference(reference: string, scope: TypeScope): Target | undefined {
  const { name: address, pointer } = parseReference(reference)
  const name = address ?? scope.rootName
  const root = address === undefined ? scope.root : own(scope.schemas, address)
  if (root === undefined) return undefined
  const alias = name === undefined ? undefined : scope.aliases.get(name)
  if (pointer === '' && alias !== undefined) return { alias: scope.input?.aliases.get(name!) ?? scope.prefix + alias }
  const schema = findByPointer(root, pointer)
  if (!isSchema(schema) || scope.inlined.includes(schema)) return undefined
  const { rootName: _, ...rest } = scope
  return {
    schema,
    scope: { ...rest, root, ...(name === undefined ? {} : { rootName: name }), inlined: [...scope.inlined, schema] },
  }
}

/** Creates an alias for each named schema: its name in Pascal case, with a number if it is taken. */
export function makeAliases(names: readonly string[]): Map<string, string> {
  const aliases = new Map<string, string>()
  const taken = new Set<string>()
  const sorted = names.toSorted((a, b) => Number(isPascal(b)) - Number(isPascal(a)) || compareText(a, b))
  for (const name of sorted) {
    const wanted = toPascal(name)
    let alias = wanted
    for (let number = 2; taken.has(alias); number++) alias = `${wanted}${number}`
    taken.add(alias)
    aliases.set(name, alias)
  }
  return aliases
}

function isPascal(name: string): boolean {
  return toPascal(name) === name
}

function toPascal(name: string): string {
  const words = name.split(/[^\p{L}\p{N}_$]+/u).filter((word) => word !== '')
  const joined = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  return /^[\p{L}_$]/u.test(joined) ? joined : `_${joined}`
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
