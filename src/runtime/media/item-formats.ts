import type { ItemFormat } from './item-stream.ts'

/** The media types whose schema is that of one item, with how items are written. */
export const itemFormats: Readonly<Record<string, ItemFormat>> = {
  'text/event-stream': { write: writeEvent, comment: ':\n\n' },
  'application/jsonl': { write: (value, writeJson) => `${writeJson(value)}\n` },
}

/** An event with more than data. */
interface EventParts {
  readonly event?: unknown
  readonly id?: unknown
  readonly data: unknown
}

/** A value, or an object with `data` and nothing but `id` and `event` beside it. */
function writeEvent(item: unknown, writeJson: (value: unknown) => string): string {
  if (!isEvent(item)) return `data: ${writeJson(item)}\n\n`
  const { event, id, data } = item
  const text = `data: ${writeJson(data)}\n\n`
  const withId = id === undefined ? text : `id: ${toField('id', id)}\n${text}`
  return event === undefined ? withId : `event: ${toField('event', event)}\n${withId}`
}

const eventKeys: ReadonlySet<string> = new Set(['event', 'id', 'data'])

function isEvent(item: unknown): item is EventParts {
  if (typeof item !== 'object' || item === null || !Object.hasOwn(item, 'data')) return false
  return Object.keys(item).every((key) => eventKeys.has(key))
}

const maxFieldLength = 1024

/** @throws for what would end the field, or what clients could not send back in a header */
function toField(name: string, value: unknown): string {
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
  if (typeof text !== 'string') throw new Error(`its ${name} must be a string or a number`)
  // oxlint-disable-next-line no-control-regex -- what is rejected
  if (/[\0-\x1f\x7f\u2028\u2029]/.test(text))
    throw new Error(`its ${name} contains a line break or a control character`)
  if (text.length > maxFieldLength) throw new Error(`its ${name} has more than ${maxFieldLength} characters`)
  return text
}
