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
function isLiteralSecret({ value }: ScalarNode, isNamed: boolean): boolean {
  if (typeof value === 'number') return isNamed
  if (typeof value !== 'string' || value === '') return false
  const text = markVariables(value)
  const parts = url.test(text)
    ? [urlPassword.exec(text)?.[1], queryPassword.exec(text)?.[1]]
    : [isNamed ? text : undefined]
  return parts.some((part) => part !== undefined && !part.includes(variableMark))
}

function markVariables(text: string): string {
  const { references } = parseReferences(text)
  return references.reduceRight(
    (marked, { start, end }) => marked.slice(0, start) + variableMark + marked.slice(end),
    text,
  )
}
