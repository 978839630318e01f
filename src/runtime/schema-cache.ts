import type { JsonSchema } from '../contract/index.ts'
import { sha256 } from '../kit/index.ts'
import type { NamedSchemas } from '../schema/index.ts'
import { compileResultCheck, type ResultCheck } from './compile-result-check.ts'
import { compileValidator, type Part, type Validator } from './compile-schema.ts'
import { compileSerializer, type Serializer } from './compile-serializer.ts'

/** Caches validators, serializers and checks of results across generations, by the content of a schema and of everything it references. */
export interface SchemaCache {
  validator(schema: JsonSchema, named: NamedSchemas, part: Part): Validator
  serializer(schema: JsonSchema, named: NamedSchemas): Serializer
  resultCheck(schema: JsonSchema, named: NamedSchemas): ResultCheck
  /**
   * Removes entries that were not used since the call before the previous one, so that two successive generations can
   * share entries.
   */
  beginGeneration(): void
  readonly size: number
}

interface Entry {
  readonly compiled: Validator | Serializer | ResultCheck
  usedIn: number
}

export function makeSchemaCache(): SchemaCache {
  const entries = new Map<string, Entry>()
  const findReachable = makeReachableFinder()
  let generation = 0

  function getOrCompile<Compiled extends Entry['compiled']>(key: string, compile: () => Compiled): Compiled {
    const known = entries.get(key) ?? { compiled: compile(), usedIn: generation }
    known.usedIn = generation
    entries.set(key, known)
    return known.compiled as Compiled
  }

  return {
    validator(schema, named, part) {
      const { content, used } = findReachable(schema, named)
      return getOrCompile(`${part} ${content}`, () => compileValidator(schema, used, part))
    },
    serializer(schema, named) {
      const { content, used } = findReachable(schema, named)
      return getOrCompile(`write ${content}`, () => compileSerializer(schema, used))
    },
    resultCheck(schema, named) {
      const { content, used } = findReachable(schema, named)
      return getOrCompile(`check ${content}`, () => compileResultCheck(schema, used))
    },
    beginGeneration() {
      for (const [key, { usedIn }] of entries) if (usedIn < generation) entries.delete(key)
      generation += 1
    },
    get size() {
      return entries.size
    },
  }
}

interface ReachableSchemas {
  /** A hash of the schema and of all named schemas that it reaches, directly or indirectly. */
  readonly content: string
  readonly used: NamedSchemas
}

interface SchemaSummary {
  readonly hash: string
  /** The named schemas that it references. */
  readonly names: readonly string[]
}

const namedReference = /"\$ref":"schema:\/\/\/([^"#]+)/g

/**
 * Makes a function that finds the named schemas that a schema reaches. Each schema object is read once, even if
 * hundreds of routes reach it.
 */
function makeReachableFinder(): (schema: JsonSchema, named: NamedSchemas) => ReachableSchemas {
  const known = new WeakMap<object, SchemaSummary>()

  function read(schema: JsonSchema): SchemaSummary {
    const found = typeof schema === 'object' ? known.get(schema) : undefined
    if (found !== undefined) return found
    const text = JSON.stringify(schema)
    const names = [...text.matchAll(namedReference)].map(([, encoded]) => decodeURIComponent(encoded!))
    const made = { hash: sha256(text), names }
    if (typeof schema === 'object') known.set(schema, made)
    return made
  }

  return (schema, named) => {
    const own = read(schema)
    const hashes = new Map<string, string>()
    const pending = [...own.names]
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (hashes.has(name) || !Object.hasOwn(named, name)) continue
      const target = read(named[name]!)
      hashes.set(name, target.hash)
      pending.push(...target.names)
    }
    const names = [...hashes.keys()].sort()
    return {
      content: sha256([own.hash, ...names.map((name) => `${name} ${hashes.get(name)}`)].join('\n')),
      used: Object.fromEntries(names.map((name) => [name, named[name]!])),
    }
  }
}
