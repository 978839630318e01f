import { parseDuration } from '../kit/index.ts'
import type { Listener } from './definition.ts'
import { omitUndefined, type DefinitionContext } from './definition-context.ts'
import { makeAction } from './make-action.ts'
import { entriesOf, itemsOf, textOf, valueOf, type Node } from './node.ts'
import { checkName } from './section.ts'

const hourMs = 3_600_000
const maxTimeoutMs = 6 * hourMs
const maxRetryMs = 30 * 24 * hourMs

/** Reads the listeners. Entries with reported errors are omitted. */
export function makeListeners(context: DefinitionContext, node: Node | undefined): Record<string, Listener> {
  const made: [string, Listener][] = []
  for (const { key, value } of entriesOf(node)) {
    const listener = makeListener(context, value)
    if (listener !== undefined) made.push([key, listener])
  }
  return Object.fromEntries(made)
}

function makeListener(context: DefinitionContext, value: Node): Listener | undefined {
  const { sections, loading } = context
  const eventAt = valueOf(value, 'event')
  const event = textOf(eventAt)
  const isKnown =
    eventAt !== undefined &&
    event !== undefined &&
    checkName(sections.event, event, { at: eventAt, report: loading.report })
  const actionAt = valueOf(value, 'action')
  const action = makeAction(context, actionAt)
  if (action !== undefined && 'class' in action)
    context.codeClasses.push({ name: action.class, at: actionAt!, user: 'A listener' })
  const read = (at: Node | undefined, name: string, maxMs: number) => readDuration(context, at, { name, maxMs })
  const timeoutMs = read(valueOf(value, 'timeout'), 'timeout', maxTimeoutMs)
  const retriesAt = valueOf(value, 'retries')
  const retries = itemsOf(retriesAt).flatMap((item) => read(item, 'retries', maxRetryMs) ?? [])
  const starts = readStarts(context, valueOf(value, 'starts'))
  const exclusive = valueOf(value, 'exclusive')
  const exclusiveValue = exclusive?.kind === 'scalar' ? exclusive.value : undefined
  if (!isKnown || action === undefined) return undefined
  const concurrency = numberOf(valueOf(value, 'concurrency'))
  return omitUndefined({
    event,
    description: textOf(valueOf(value, 'description')),
    action,
    timeoutMs,
    retries: retriesAt === undefined ? undefined : retries,
    concurrency,
    exclusive: exclusiveValue === true || typeof exclusiveValue === 'string' ? exclusiveValue : undefined,
    starts,
    once: isTrue(valueOf(value, 'once')) ? (true as const) : undefined,
  })
}

function readDuration(
  { loading: { report } }: DefinitionContext,
  at: Node | undefined,
  { name, maxMs }: { readonly name: string; readonly maxMs: number },
): number | undefined {
  const text = textOf(at)
  if (at === undefined || text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms !== undefined && ms >= 1 && ms <= maxMs) return ms
  const most = describeMax(maxMs)
  const expected = ms === undefined ? 'a duration such as 30s or 5m' : `more than 0 and at most ${most}`
  const problem = `"${name}" must be ${expected}, not "${text}"`
  report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem } })
  return undefined
}

function describeMax(ms: number): string {
  return ms >= 48 * hourMs ? `${ms / (24 * hourMs)}d` : `${ms / hourMs}h`
}

function readStarts(context: DefinitionContext, node: Node | undefined): Listener['starts'] {
  const limit = numberOf(valueOf(node, 'limit'))
  const windowMs = readDuration(context, valueOf(node, 'window'), { name: 'window', maxMs: 24 * hourMs })
  return limit === undefined || windowMs === undefined ? undefined : { limit, windowMs }
}

function numberOf(node: Node | undefined): number | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'number' ? node.value : undefined
}

function isTrue(node: Node | undefined): boolean {
  return node?.kind === 'scalar' && node.value === true
}
