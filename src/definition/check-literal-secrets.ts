import type { JsonSchema } from '../contract/index.ts'
import { parseReferences } from '../kit/index.ts'
import { findDescription } from './check-class-configs.ts'
import type { ClassCatalog } from './class-catalog.ts'
import type { DefinitionContext } from './definition-context.ts'
import { entriesOf, itemsOf, valueOf, type Node, type ScalarNode } from './node.ts'

/** Warns about literal passwords and other secrets in the config of a class: each release would store them. */
export function checkLiteralSecrets(
  { loading: { report }, classUses }: DefinitionContext,
  catalog?: ClassCatalog,
): void {
  for (const use of classUses) {
    const schema = findDescription(use, catalog)?.config
    for (const { key, value, isSecret } of listScalars(valueOf(use.node, 'config'), '', schema)) {
      if (!isLiteralSecret(value, isSecretName(key) || isSecret)) continue
      const parameters = { key }
      report.add({ code: 'WP_DEFINITION_SECRET_LITERAL', severity: 'warning', at: value, parameters, isSecret: true })
    }
  }
}

interface ConfigScalar {
  /** The nearest key. */
  readonly key: string
  readonly value: ScalarNode
  /** Whether the schema marks it with `writeOnly`. */
  readonly isSecret: boolean
}

/** Lists all scalars at any depth. */
function listScalars(node: Node | undefined, key: string, schema: JsonSchema | undefined): ConfigScalar[] {
  const { properties = {}, items, writeOnly } = (typeof schema === 'object' ? schema : {}) as SchemaPart
  const isSecret = writeOnly === true
  if (node?.kind === 'scalar') return [{ key, value: node, isSecret }]
  if (node?.kind === 'list') return itemsOf(node).flatMap((item) => listScalars(item, key, isSecret ? schema : items))
  return entriesOf(node).flatMap((entry) => {
    const property = Object.hasOwn(properties, entry.key) ? properties[entry.key] : undefined
    return listScalars(entry.value, entry.key, isSecret ? schema : property)
  })
}

interface SchemaPart {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly writeOnly?: unknown
}

const secretName =
  /(^|_)(password|passwd|pwd|passphrase|secret|token|authorization|credentials?|api_?key|(access|account|private|secret|shared|signing)_key)$/

/** Whether the last words of a name indicate a secret: true for `apiKey` and `DB_PASSWORD`, false for `tokenUrl`. */
function isSecretName(key: string): boolean {
  const words = key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll('-', '_')
  return secretName.test(words.toLowerCase())
}

const variableMark = '\uFFFC'
const url = /^[a-z][a-z0-9+.-]*:\/\//i
const urlPassword = /^[^/?#]*:\/\/[^/?#@]*:([^/?#@]+)@/
const queryPassword = /[?&][\w-]*(?:password|passphrase|secret|token|api[_-]?key)=([^&#]+)/i

/**
 * Whether a value is a literal secret. A URL is secret only if it contains a password.
 * @param isNamed whether the name of the value indicates a secret
 */
function isLiteralSecret({ value }: Pick<ScalarNode, 'value'>, isNamed: boolean): boolean {
  return literalSecrets(value, isNamed).length > 0
}

/** Returns the literal secrets in a value: the whole value, or the passwords in a URL. */
function literalSecrets(value: unknown, isNamed: boolean): readonly string[] {
  if (typeof value === 'number') return isNamed ? [String(value)] : []
  if (typeof value !== 'string' || value === '') return []
  const text = markVariables(value)
  const parts = url.test(text)
    ? [urlPassword.exec(text)?.[1], queryPassword.exec(text)?.[1]]
    : [isNamed ? text : undefined]
  return parts.filter((part) => part !== undefined && !part.includes(variableMark)) as string[]
}

const hidden = '[hidden]'

/** Returns a config without its literal secrets. References to variables stay. */
export function hideSecrets<Value>(config: Value, schema: JsonSchema | undefined): Value {
  return mapScalars(config, { key: '', schema, isSecret: false }, (value, isNamed) => {
    const secrets = literalSecrets(value, isNamed)
    return secrets.reduce<unknown>((text, secret) => String(text).replace(secret, hidden), value)
  }) as Value
}

const looseUrlPassword = /^[^/?#]*:\/\/[^:/?#]*:(.*)@/

/**
 * Returns the texts of a resolved config that messages must not contain: its secrets, their words, and passwords in URLs
 * with and without their encoding.
 */
export function findSecrets(config: unknown, schema: JsonSchema | undefined): readonly string[] {
  const found: string[] = []
  mapScalars(config, { key: '', schema, isSecret: false }, (value, isNamed) => {
    const loose = typeof value === 'string' ? (looseUrlPassword.exec(value)?.[1] ?? '') : ''
    for (const secret of [...literalSecrets(value, isNamed), loose])
      found.push(secret, decode(secret), ...secret.split(/\s+/).filter((word) => word.length >= 8))
    return value
  })
  return [...new Set(found)].filter((secret) => secret !== '').toSorted((a, b) => b.length - a.length)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

interface ConfigPlace {
  /** The nearest key. */
  readonly key: string
  readonly schema: JsonSchema | undefined
  readonly isSecret: boolean
}

/** Replaces the scalars of a config, at any depth. `isNamed`: the name or the schema says that it is a secret. */
function mapScalars(
  value: unknown,
  { key, schema, isSecret }: ConfigPlace,
  change: (value: unknown, isNamed: boolean) => unknown,
): unknown {
  const { properties = {}, items, writeOnly } = (typeof schema === 'object' ? schema : {}) as SchemaPart
  const own = isSecret || writeOnly === true
  if (Array.isArray(value)) return value.map((item) => mapScalars(item, { key, schema: items, isSecret: own }, change))
  if (typeof value !== 'object' || value === null) return change(value, own || isSecretName(key))
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      return [name, mapScalars(member, { key: name, schema: property, isSecret: own }, change)]
    }),
  )
}

function markVariables(text: string): string {
  const { references } = parseReferences(text)
  return references.reduceRight(
    (marked, { start, end }) => marked.slice(0, start) + variableMark + marked.slice(end),
    text,
  )
}
