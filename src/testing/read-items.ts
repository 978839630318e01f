import { itemTypes } from '../kit/index.ts'

interface Routes {
  readonly routes: readonly {
    readonly path: string
    readonly methods: readonly {
      readonly method: string
      readonly responseTypes?: Readonly<Record<string, Readonly<Record<string, { readonly schema?: unknown }>>>>
    }[]
  }[]
}

/** Returns the routes that send streams of values, as `GET /orders`. */
export function findStreams({ routes }: Routes): ReadonlySet<string> {
  const names = routes.flatMap(({ path, methods }) =>
    methods.flatMap(({ method, responseTypes = {} }) => {
      const types = Object.values(responseTypes).flatMap((one) => Object.entries(one))
      const isStream = types.some(([type, { schema }]) => itemTypes.has(type) && schema !== undefined)
      return isStream ? [`${method} ${path}`] : []
    }),
  )
  return new Set(names)
}

/** One event of a stream. */
interface ReceivedEvent {
  readonly event?: string
  readonly id?: string
  readonly data: unknown
}

type ReadItems = (body: ReadableStream<Uint8Array>, ended: () => Promise<void>) => AsyncIterable<unknown>

const readers: Readonly<Record<string, (text: string) => readonly unknown[]>> = {
  'text/event-stream': (block) => parseEvent(block),
  'application/jsonl': (line) => (line.trim() === '' ? [] : [JSON.parse(line)]),
}

/** Returns the reader of a stream of values; undefined for another content type. */
export function findItemReader(contentType: string | null): ReadItems | undefined {
  const type = (contentType ?? '').split(';', 1)[0]!.trim()
  const parse = readers[type]
  if (parse === undefined) return undefined
  const separator = type === 'text/event-stream' ? '\n\n' : '\n'
  return (body, ended) => readItems(body, { parse, separator, ended })
}

interface Reading {
  readonly separator: string
  parse(part: string): readonly unknown[]
  ended(): Promise<void>
}

async function* readItems(
  body: ReadableStream<Uint8Array>,
  { parse, separator, ended }: Reading,
): AsyncGenerator<unknown, void, undefined> {
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of body) {
      const parts = (text + decoder.decode(chunk, { stream: true })).split(separator)
      text = parts.pop()!
      for (const part of parts) yield* parse(part)
    }
    if (separator === '\n') yield* parse(text) // an event that is cut off does not count
  } finally {
    await ended()
  }
}

/** Parses an event as Waypost writes it. @returns nothing for a comment */
function parseEvent(block: string): readonly ReceivedEvent[] {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (name !== undefined) fields.set(name, value!)
  }
  const data = fields.get('data')
  if (data === undefined) return []
  const [event, id] = [fields.get('event'), fields.get('id')]
  return [{ ...(event !== undefined && { event }), ...(id !== undefined && { id }), data: JSON.parse(data) as unknown }]
}
