import type { ValidateFunction } from 'ajv'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../contract/index.ts'
import { compilePattern, useExactFormats, useExactKeywords } from '../kit/index.ts'
import { makeDefaults } from '../schema/index.ts'
import type { Definition } from './definition.ts'
import type { DefinitionContext } from './definition-context.ts'
import { describeNode, type MapNode, type Node } from './node.ts'
import { findRoots } from './schema-roots.ts'

/** Keywords that say nothing about a value, or only what `checkStrict` has checked. */
const checked: ReadonlySet<string> = new Set([
  'type', 'title', 'description', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'contentEncoding',
  'contentMediaType', 'explode', '$defs', 'definitions',
]) // prettier-ignore
const values: ReadonlySet<string> = new Set(['default', 'const', 'enum'])

/** Reports values of `default`, `const` and `enum` that the rest of their schema rejects. */
export async function checkSchemaValues(
  { schemas, loading: { report } }: DefinitionContext,
  { schemas: named }: Pick<Definition, 'schemas'>,
): Promise<void> {
  const found = [...schemas.walking.written].filter(([output, { node }]) => {
    const others = Object.keys(output).filter((keyword) => !checked.has(keyword))
    return others.length > 1 && others.some((keyword) => values.has(keyword)) && !report.isUnclear(node)
  })
  if (found.length === 0) return
  const compile = await openCompiler(named)
  const rootOf = findRoots(schemas)
  for (const [output, { node, root }] of found) {
    const validate = compile(output as JsonSchema, rootOf(root), root.pointers.get(node) ?? '')
    if (validate === undefined) continue
    const fill = 'default' in output ? makeDefaults(output, named) : undefined
    for (const { keyword, at, value: given } of valuesOf(output, node)) {
      if (keyword === 'default') fill?.(given)
      if (validate(given)) continue
      const { instancePath: place = '', message = 'does not match its schema' } = validate.errors?.[0] ?? {}
      const value = `${at.kind === 'scalar' ? describeNode(at) : 'the value'} in "${keyword}"`
      const problem = `${upperFirst(value)} is not valid: ${place === '' ? 'it' : `"${place.slice(1)}"`} ${message}`
      report.add({ code: 'WP_DEFINITION_SCHEMA_INVALID', at, parameters: { problem } })
    }
  }
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

interface SchemaValue {
  readonly keyword: string
  readonly at: Node
  readonly value: unknown
}

function valuesOf(output: object, { entries }: MapNode): readonly SchemaValue[] {
  const single = ['default', 'const'].flatMap((keyword): SchemaValue[] => {
    const at = entries.get(keyword)?.value
    return at === undefined ? [] : [{ keyword, at, value: structuredClone(output[keyword as never]) }]
  })
  const list = entries.get('enum')?.value
  const listed = list?.kind === 'list' ? list.items : []
  return [...single, ...listed.map((at, index) => ({ keyword: 'enum', at, value: (output as EnumSchema).enum[index] }))]
}

interface EnumSchema {
  readonly enum: readonly unknown[]
}

/** Loads the compiler only if a schema needs it. Equal schemas are compiled once. */
async function openCompiler(named: Definition['schemas']) {
  // Bundled CommonJS that is loaded later has only a default export.
  const [{ default: ajvModule }, { default: addFormats }] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv-formats'),
  ])
  const ajv = new ajvModule.Ajv2020({
    strict: false,
    validateSchema: false,
    logger: false,
    code: { regExp: Object.assign((pattern: string) => compilePattern(pattern), { code: '' }) },
  })
  addFormats.default(ajv)
  useExactFormats(ajv)
  useExactKeywords(ajv, ajvModule)
  for (const [name, one] of Object.entries(named)) ajv.addSchema(one, `schema:///${encodeURIComponent(name)}`)
  const bases = new Map<JsonSchema, string>()
  const compiled = new Map<string, ValidateFunction | undefined>()
  /** @param pointer where the schema is in its root, which `#` refers to */
  return (schema: JsonSchema, root: JsonSchema, pointer: string): ValidateFunction | undefined => {
    const { default: _, ...rest } = schema as Readonly<Record<string, unknown>>
    let text = JSON.stringify(rest)
    if (text.includes('"$ref":"#')) {
      const base = bases.get(root) ?? `inline:///${bases.size}`
      if (!bases.has(root)) ajv.addSchema(root, base)
      bases.set(root, base)
      text = JSON.stringify({ $ref: `${base}#${pointer}` })
    }
    if (!compiled.has(text)) compiled.set(text, tryCompile(ajv, JSON.parse(text) as object))
    return compiled.get(text)
  }
}

/** Returns undefined for a schema with an error, which is reported elsewhere. */
function tryCompile(ajv: Ajv2020, schema: object): ValidateFunction | undefined {
  try {
    return ajv.compile(schema)
  } catch {
    return undefined
  }
}
