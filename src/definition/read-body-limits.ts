import { formatSize, multipartType, parseSize, suggestQuantity } from '../kit/index.ts'
import { sumFileSizes } from '../schema/index.ts'
import type { Method } from './definition.ts'
import { omitUndefined, type DefinitionContext } from './definition-context.ts'
import type { Body } from './make-content.ts'
import { describeNode, textOf, type Entry, type Node } from './node.ts'

const minimum = '1b'
const maximum = '16gb'

/** The names and boundaries around a file. */
const bytesAroundFile = 1024

/** Reads what a method says about the bytes of its body, and checks that its files fit. */
export function readBodyLimits(
  context: DefinitionContext,
  { key, value }: Entry,
  { types = {} }: Body,
): Pick<Method, 'raw' | 'bodyLimit'> {
  const { report } = context.loading
  const entries = value.kind === 'map' ? value.entries : new Map<string, Entry>()
  const given = { raw: entries.get('raw'), body_limit: entries.get('body_limit') }
  const bodyLimit = readLimit(context, given.body_limit?.value)
  const files = types[multipartType]?.schema
  const fileBytes = files === undefined ? 0 : sumFileSizes(files, bytesAroundFile)
  if (fileBytes > 0 && Number.isFinite(fileBytes)) {
    const at = given.body_limit?.keySpan ?? entries.get('request')!.keySpan
    context.uploads.push({ at, bytes: fileBytes, limit: bodyLimit, isDeclared: given.body_limit !== undefined })
  }
  for (const [name, entry] of Object.entries(given)) {
    if (entry === undefined || key !== 'GET') continue
    const problem = `"${name}" applies to requests with a body, not to GET`
    report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at: entry.keySpan, parameters: { problem } })
  }
  return omitUndefined({ bodyLimit, raw: readRaw(context, given.raw, types) })
}

function readLimit({ loading: { report } }: DefinitionContext, at: Node | undefined): number | undefined {
  const text = textOf(at)
  if (at === undefined || text === undefined) return undefined // reported by the check of the structure
  const bytes = parseSize(text)
  if (bytes !== undefined && bytes >= parseSize(minimum)! && bytes <= parseSize(maximum)!) return bytes
  const expected = bytes === undefined ? 'a size such as 512kb or 10mb' : `at least ${minimum} and at most ${maximum}`
  const problem = `"body_limit" must be ${expected}, not ${describeNode(at)}`
  const form = bytes === undefined ? suggestQuantity(text, parseSize) : undefined
  const hint = form === undefined ? {} : { hint: `Write ${form}` }
  report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem }, ...hint })
  return undefined
}

function readRaw(
  { loading: { report } }: DefinitionContext,
  entry: Entry | undefined,
  types: NonNullable<Body['types']>,
): true | undefined {
  if (entry?.value.kind !== 'scalar' || entry.value.value !== true) return undefined
  const large = Object.entries(types).find(([type, { schema }]) => type === multipartType || schema === undefined)
  if (large === undefined) return true
  const problem = `"raw" keeps the body in memory, so it cannot be combined with ${large[0]}`
  const hint =
    large[0] === multipartType ? 'Remove it' : 'Remove it: the action gets the bytes of this type as a stream already'
  report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at: entry.keySpan, parameters: { problem }, hint })
  return undefined
}

/** Reports files that are allowed to be larger than their request. */
export function checkUploads({ uploads, loading: { report } }: DefinitionContext, setting: number | undefined): void {
  for (const { at, bytes, limit = setting, isDeclared } of uploads) {
    if (limit === undefined || bytes <= limit) continue
    const needed = `${Math.ceil(bytes / 1024 ** 2)}mb`
    const problem = `The files of this request need a body of up to ${needed}, but "body_limit" is ${formatSize(limit)}`
    const hint = isDeclared
      ? `Write body_limit: ${needed}, or lower "maxSize" or "maxItems"`
      : `Add body_limit: ${needed} to the method, or lower "maxSize" or "maxItems"`
    report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem }, hint })
  }
}
