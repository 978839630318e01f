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
    for (const { key, value } of listScalars(valueOf(use.node, 'config'), '')) {
      if (!isLiteralSecret(value, isSecretName(key) || isWriteOnly(schema, key))) continue
      const parameters = { key }
      report.add({ code: 'WP_DEFINITION_SECRET_LITERAL', severity: 'warning', at: value, parameters, isSecret: true })
    }
  }
}

/** Lists all scalars at any depth, each with its nearest key. */
function listScalars(node: Node | undefined, key: string): { readonly key: string; readonly value: ScalarNode }[] {
  if (node?.kind === 'scalar') return [{ key, value: node }]
  if (node?.kind === 'list') return itemsOf(node).flatMap((item) => listScalars(item, key))
  return entriesOf(node).flatMap((entry) => listScalars(entry.value, entry.key))
}

const secretName =
  /(^|_)(password|passwd|pwd|passphrase|secret|token|authorization|credentials?|api_?key|(access|account|private|secret|shared|signing)_key)$/

/** Whether the last words of a name indicate a secret: true for `apiKey` and `DB_PASSWORD`, false for `tokenUrl`. */
function isSecretName(key: string): boolean {
  const words = key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll('-', '_')
  return secretName.test(words.toLowerCase())
}

function isWriteOnly(schema: JsonSchema | undefined, key: string): boolean {
  const { properties } = (typeof schema === 'object' ? schema : {}) as { properties?: Record<string, JsonSchema> }
  const property = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined
  return typeof property === 'object' && property['writeOnly'] === true
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
