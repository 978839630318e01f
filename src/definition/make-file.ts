import type { JsonSchema } from '../contract/index.ts'
import { parseSize, suggestQuantity } from '../kit/index.ts'
import { checkMediaType } from './check-media-type.ts'
import type { DefinitionContext } from './definition-context.ts'
import { checkStructure } from './check-structure.ts'
import { describeNode, itemsOf, textOf, valueOf, type MapNode, type Node } from './node.ts'
import { fileShape } from './schema-language.ts'

/** Whether a schema is that of a file, which only a multipart body contains. */
export function isFile(node: Node | undefined): node is MapNode {
  return textOf(valueOf(node, 'type')) === 'file'
}

/** Whether a schema is that of a list of files. */
export function isFileList(node: Node): node is MapNode {
  return textOf(valueOf(node, 'type')) === 'array' && isFile(valueOf(node, 'items'))
}

/** The code of all problems of a schema. */
const code = 'WP_DEFINITION_SCHEMA_INVALID'

/** Reads the schema of a file: `{ type: file, maxSize, types }`, with the size in bytes. */
export function makeFile({ loading: { report } }: DefinitionContext, node: MapNode): JsonSchema {
  const label = { name: 'A file', at: node }
  checkStructure(node, fileShape, { label, checking: { report, code } })
  const types = itemsOf(valueOf(node, 'types'))
  for (const type of types) checkMediaType(report, type)
  const maxSize = readMaxSize(valueOf(node, 'maxSize'))
  const size = valueOf(node, 'maxSize')
  if (size !== undefined && maxSize === undefined) {
    const problem = `"maxSize" must be a size such as 5mb, not ${describeNode(size)}`
    const form = suggestQuantity(textOf(size) ?? '', parseSize)
    report.add({ code, at: size, parameters: { problem }, ...(form !== undefined && { hint: `Write ${form}` }) })
  }
  const description = textOf(valueOf(node, 'description'))
  return {
    type: 'file',
    ...(description !== undefined && { description }),
    ...(types.length > 0 && { types: types.flatMap((type) => textOf(type) ?? []) }),
    maxSize: maxSize ?? 0,
  }
}

/** Returns the size in bytes; undefined if it is invalid. */
function readMaxSize(node: Node | undefined): number | undefined {
  if (node?.kind !== 'scalar') return undefined
  const { value } = node
  const bytes = typeof value === 'string' ? parseSize(value) : value
  return typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined
}
