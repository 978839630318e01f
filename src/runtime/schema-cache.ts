import type { JsonSchema } from '../contract/index.ts'
import { sha256 } from '../kit/index.ts'
import {
  compileSerializer,
  compileValidator,
  type NamedSchemas,
  type Part,
  type Serializer,
  type Validator,
} from './compile-schema.ts'

/** Validators and serialisers by the content of a schema with all that it references, kept over generations. */
export interface SchemaCache {
  validator(schema: JsonSchema, named: NamedSchemas, part: Part): Validator
  serializer(schema: JsonSchema, named: NamedSchemas): Serializer
  /** Forgets what was not asked for since the call before the last: one generation and the next may share the rest. */
  beginGeneration(): void
  readonly size: number
}

interface Entry {
  readonly compiled: Validator | Serializer
  usedIn: number
}

export function makeSchemaCache(): SchemaCache {
  const entries = new Map<string, Entry>()
  const reach = makeReach()
  let generation = 0

  function remember<Compiled extends Entry['compiled']>(key: string, compile: () => Compiled): Compiled {
    const known = entries.get(key) ?? { compiled: compile(), usedIn: generation }
    known.usedIn = generation
    entries.set(key, known)
    return known.compiled as Compiled
  }

  return {
    validator(schema, named, part) {
      const { content, used } = reach(schema, named)
      return remember(`${part} ${content}`, () => compileValidator(schema, used, part))
    },
    serializer(schema, named) {
      const { content, used } = reach(schema, named)
      return remember(`write ${content}`, () => compileSerializer(schema, used))
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

interface Reached {
  /** A hash of the schema and of every named one that it reaches, directly or through others. */
  readonly content: string
  readonly used: NamedSchemas
}

interface Read {
  readonly hash: string
  /** The named schemas that it refers to. */
  readonly names: readonly string[]
}

const namedReference = /"\$ref":"schema:\/\/\/([^"#]+)/g

/** Each schema object is read once, although hundreds of routes may reach it. */
function makeReach(): (schema: JsonSchema, named: NamedSchemas) => Reached {
  const known = new WeakMap<object, Read>()

  function read(schema: JsonSchema): Read {
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
    const waiting = [...own.names]
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (hashes.has(name) || !Object.hasOwn(named, name)) continue
      const target = read(named[name]!)
      hashes.set(name, target.hash)
      waiting.push(...target.names)
    }
    const names = [...hashes.keys()].sort()
    return {
      content: sha256([own.hash, ...names.map((name) => `${name} ${hashes.get(name)}`)].join('\n')),
      used: Object.fromEntries(names.map((name) => [name, named[name]!])),
    }
  }
}
