import { describeNode, textOf, type Node } from './node.ts'
import type { Report } from './report.ts'
import type { Span } from './source.ts'

/** As RFC 6838 restricts the names of registered types. */
const restrictedName = String.raw`[a-z0-9][a-z0-9!#$&^_.+-]{0,126}`
export const mediaTypePattern = `^${restrictedName}/${restrictedName}$`

const valid = new RegExp(mediaTypePattern)

/** Returns the media type that a value names; undefined if it is invalid, which is reported. */
export function checkMediaType(report: Report, node: Node): string | undefined {
  const text = textOf(node)
  if (text !== undefined) return checkMediaTypeName(report, text, node)
  if (node.kind === 'broken') return undefined
  const problem = `A media type must be a string such as image/png, not ${describeNode(node)}`
  report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at: node, parameters: { problem } })
  return undefined
}

export function checkMediaTypeName(report: Report, text: string, at: Span): string | undefined {
  if (valid.test(text)) return text
  const problem = `"${text}" is not a media type`
  report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem }, hint: hintFor(text) })
  return undefined
}

function hintFor(text: string): string {
  const bare = text.split(';')[0]!.trim().toLowerCase()
  if (valid.test(bare) && bare !== text) return `Write ${bare}, in lower case and without parameters`
  if (text.includes('*')) return 'List each type, for example image/png and image/jpeg'
  const known = commonTypes.find((type) => type.endsWith(`/${bare}`))
  return known === undefined ? 'Write TYPE/SUBTYPE, for example image/png' : `Write ${known}`
}

const commonTypes = [
  'application/json',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'application/octet-stream',
  'application/pdf',
  'application/zip',
  'text/event-stream',
  'application/jsonl',
  'text/csv',
  'text/plain',
  'text/html',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]
