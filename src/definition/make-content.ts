import type { JsonSchema } from '../contract/index.ts'
import { formType, isJsonType, itemTypes, multipartType } from '../kit/index.ts'
import { checkMediaType, checkMediaTypeName } from './check-media-type.ts'
import type { MediaType } from './definition.ts'
import type { DefinitionContext } from './definition-context.ts'
import { isFile, isFileList, makeFile } from './make-file.ts'
import { checkParts, typeOf } from './make-parameters.ts'
import { describeNode, entriesOf, isEmpty, valueOf, type Entry, type MapNode, type Node } from './node.ts'
import { makeSchema } from './schemas.ts'

/** What a request or a response contains. */
export interface Body {
  /** The schema of its JSON. */
  readonly json?: JsonSchema
  /** Set if its media types are listed. */
  readonly types?: Readonly<Record<string, MediaType>>
}

export type BodyPart = 'request' | 'response'

/** Reads the schema of a JSON body, or a map with the key `content`, which lists media types. */
export function makeBody(context: DefinitionContext, node: Node, part: BodyPart): Body {
  if (!isContent(node)) {
    if (part === 'request') context.requests.push(node)
    return { json: makeSchema(context.schemas, node) }
  }
  const { report } = context.loading
  for (const { key, keySpan } of node.entries.values()) {
    if (key === 'content') continue
    const problem = `"${key}" is not allowed beside "content"`
    const hint = 'Write each schema below its media type, for example application/json: SCHEMA'
    report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at: keySpan, parameters: { problem }, hint })
  }
  const content = valueOf(node, 'content')!
  const types =
    content.kind === 'list' ? makeList(context, content.items, part) : makeMap(context, entriesOf(content), part)
  if (content.kind !== 'broken' && types.length === 0 && isEmptyContent(content)) {
    const problem = `"content" must be a map of media type to schema or a list of media types, not ${describeContent(content)}`
    report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at: content, parameters: { problem } })
  }
  const json = types.find(([type]) => isJsonType(type))?.[1].schema
  return { types: Object.fromEntries(types), ...(json !== undefined && { json }) }
}

/** Reports media types that action classes do not know: they get JSON. */
export function checkClassContent(
  { loading: { report } }: DefinitionContext,
  { value }: Entry,
  { types = {} }: Body,
): void {
  const other = Object.keys(types).find((type) => !isJsonType(type))
  const at = value.kind === 'map' ? value.entries.get('request')?.keySpan : undefined
  if (other === undefined || at === undefined) return
  const problem = `An action class cannot read ${other}, only JSON`
  report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem }, hint: 'Use an action in a file' })
}

function isEmptyContent(node: Node): boolean {
  return node.kind === 'scalar' || (node.kind === 'list' ? node.items.length === 0 : entriesOf(node).length === 0)
}

function describeContent(node: Node): string {
  if (node.kind === 'list') return 'an empty list'
  return node.kind === 'map' ? 'an empty map' : describeNode(node)
}

/** No keyword of JSON Schema is called `content`. */
function isContent(node: Node): node is MapNode {
  return node.kind === 'map' && node.entries.has('content')
}

type Made = readonly [type: string, media: MediaType]

function makeList({ loading: { report } }: DefinitionContext, items: readonly Node[], part: BodyPart): Made[] {
  const made = new Map<string, MediaType>()
  for (const item of items) {
    const type = checkMediaType(report, item)
    if (type === undefined) continue
    const reportProblem = (problem: string, hint: string): void =>
      report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at: item, parameters: { problem }, hint })
    if (made.has(type)) reportProblem(`${type} is repeated`, 'Remove one of the two')
    else if (needsSchema(type, part))
      reportProblem(`${type} needs a schema`, `Write a map: content: { ${type}: SCHEMA }`)
    made.set(type, {})
  }
  return [...made]
}

/** Whether a body of a type has a form of its own, instead of being bytes or text. */
function needsSchema(type: string, part: BodyPart): boolean {
  const isListOfItems = part === 'response' && itemTypes.has(type)
  return isJsonType(type) || isListOfItems || type === multipartType || type === formType
}

function makeMap(context: DefinitionContext, entries: readonly Entry[], part: BodyPart): Made[] {
  const { report } = context.loading
  let json: string | undefined
  return entries.flatMap((entry): readonly Made[] => {
    const { key: type, keySpan: at, value } = entry
    if (value.kind === 'broken' || checkMediaTypeName(report, type, at) === undefined) return []
    const reportProblem = (problem: string, hint: string): void =>
      report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem }, hint })
    const wrong = findMisplaced(type, { part, isEmpty: isEmpty(value) })
    if (wrong !== undefined) {
      reportProblem(wrong.problem, wrong.hint)
      return []
    }
    if (isJsonType(type)) {
      if (json !== undefined) reportProblem(`${type} and ${json} are both JSON`, 'Keep one of the two')
      json ??= type
    }
    if (!isEmpty(value)) return [[type, { schema: makeMediaSchema(context, entry, part) }]]
    if (needsSchema(type, part)) reportProblem(`${type} needs a schema`, `Write ${type}: SCHEMA`)
    return [[type, {}]]
  })
}

/** Returns why a request or a response cannot have a body of a type. */
function findMisplaced(type: string, { part, isEmpty }: { readonly part: BodyPart; readonly isEmpty: boolean }) {
  if (part === 'response' && (type === multipartType || type === formType))
    return { problem: `A response cannot be ${type}`, hint: 'Callers expect it in requests only; use application/json' }
  if (part === 'request' && itemTypes.has(type) && !isEmpty)
    return {
      problem: `A request of ${type} has no schema`,
      hint: `List it: content: [${type}]. The action gets a stream`,
    }
  if (type.startsWith('multipart/') && type !== multipartType)
    return { problem: `${type} is not supported`, hint: `Use ${multipartType} in a request` }
  return undefined
}

function makeMediaSchema(context: DefinitionContext, { key: type, value }: Entry, part: BodyPart): JsonSchema {
  if (type === multipartType) return makeMultipart(context, value)
  if (part === 'request') context.requests.push(value)
  const schema = makeSchema(context.schemas, value)
  if (type === formType) {
    context.schemas.ofText.add(value)
    context.afterSchemas.push((resolved) => checkParts(context, { node: value, part: type, resolved }))
  } else if (!needsSchema(type, part)) {
    context.afterSchemas.push((resolved) => {
      const found = typeOf(context, value, resolved)
      if (found === 'string' || context.loading.report.isUnclear(value)) return
      const problem = `The schema of ${type} must be of type string${found === undefined ? '' : `, not "${found}"`}`
      const hint = `Write { type: string }, or omit the schema: then the action ${part === 'request' ? 'gets a stream' : 'sends bytes'}`
      context.loading.report.add({ code: 'WP_DEFINITION_SCHEMA_INVALID', at: value, parameters: { problem }, hint })
    })
  }
  return schema
}

/** Reads the schema of a multipart body, whose properties may be files and lists of files. */
function makeMultipart(context: DefinitionContext, node: Node): JsonSchema {
  const { report } = context.loading
  if (node.kind !== 'map') context.requests.push(node)
  for (const { value, keySpan: at } of entriesOf(valueOf(node, 'properties'))) {
    const file = isFile(value) ? value : isFileList(value) ? valueOf(value, 'items') : undefined
    if (!isFile(file)) {
      context.requests.push(value)
      continue
    }
    context.schemas.walking.files.set(file, makeFile(context, file))
    if (file === value || valueOf(value, 'maxItems') !== undefined) continue
    const problem = 'A list of files needs "maxItems"'
    report.add({ code: 'WP_DEFINITION_SCHEMA_INVALID', at, parameters: { problem }, hint: 'Add maxItems: 20' })
  }
  const schema = makeSchema(context.schemas, node)
  context.schemas.ofText.add(node)
  context.afterSchemas.push((resolved) => checkParts(context, { node, part: multipartType, resolved }))
  return schema
}
