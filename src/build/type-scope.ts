import type { JsonSchema } from '../contract/index.ts'
import { findByPointer, isSchema, parseReference } from '../schema/index.ts'
import { compareText } from './compare-text.ts'

/** What references inside a schema can mean. */
export interface TypeScope {
  readonly schemas: Readonly<Record<string, JsonSchema>>
  /** Type alias by name of a schema. */
  readonly aliases: ReadonlyMap<string, string>
  /** What stands before an alias: nothing inside the namespace that declares them. */
  readonly prefix: string
  /** Of what goes into an action; undefined for a value whose defaults nobody fills in. */
  readonly input?: InputTypes | undefined
  /** The schema that `#` means, and its name if it has one. */
  readonly root: JsonSchema
  readonly rootName?: string
  /** Schemas that are being written in place, so that a circle among them ends. */
  readonly within: readonly JsonSchema[]
}

/** `sent` by callers, who may leave out what has a default, or `received` by the action, which finds it filled in. */
export interface InputTypes {
  readonly form: 'sent' | 'received'
  /** Aliases, with their namespace, of the schemas that have another type in this form. */
  readonly aliases: ReadonlyMap<string, string>
}

/** Where a reference leads: to a named schema, or to a schema that is written in place. */
export type Target = { readonly alias: string } | { readonly schema: JsonSchema; readonly scope: TypeScope }

/** Follows a `$ref`; undefined where nothing of the project stands. */
export function resolveReference(reference: string, scope: TypeScope): Target | undefined {
  const { name: address, pointer } = parseReference(reference)
  const name = address ?? scope.rootName
  const root = address === undefined ? scope.root : own(scope.schemas, address)
  if (root === undefined) return undefined
  const alias = name === undefined ? undefined : scope.aliases.get(name)
  if (pointer === '' && alias !== undefined) return { alias: scope.input?.aliases.get(name!) ?? scope.prefix + alias }
  const schema = findByPointer(root, pointer)
  if (!isSchema(schema) || scope.within.includes(schema)) return undefined
  const { rootName: _, ...rest } = scope
  return {
    schema,
    scope: { ...rest, root, ...(name === undefined ? {} : { rootName: name }), within: [...scope.within, schema] },
  }
}

/** An alias for every named schema: its name in Pascal case, numbered where two would be the same. */
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
