type Value = Readonly<Record<string, unknown>>

const eventType = 'text/event-stream'

/**
 * Divides the operations whose responses are not only JSON, because the client generator knows one body for each: the one
 * for all media types that are read as a whole, and one for each stream. Their paths end with a mark, which `readMarks` replaces.
 */
export function divideMedia(paths: Value): Value {
  const divided: Record<string, Record<string, unknown>> = {}
  const add = (path: string, method: string, operation: unknown) => ((divided[path] ??= {})[method] = operation)
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item as Value)) {
      for (const { mark, made } of divideOperation(operation as Value)) add(`${path}${mark}`, method, made)
    }
  }
  return divided
}

interface Divided {
  readonly mark: string
  readonly made: Value
}

function divideOperation(operation: Value): readonly Divided[] {
  const responses = operation['responses'] as Value
  const all = Object.entries(responses).flatMap(([status, response]) => {
    const { content = {} } = response as { content?: Value }
    return status.startsWith('2') ? Object.entries(content) : []
  })
  const streams = new Map(all.filter(([, media]) => itemOf(media) !== undefined))
  const whole = [...new Set(all.map(([type]) => type).filter((type) => !streams.has(type)))]
  const isPlain = whole.every((type) => isJson(type) || type === '*/*')
  if (streams.size === 0 && isPlain) return [{ mark: '', made: operation }]
  const { operationId = '', parameters = [] } = operation as { operationId?: string; parameters?: Value[] }
  const withoutId = { ...operation, parameters: parameters.filter((one) => !isLastEventId(one)) }
  const change = (read: (media: Value) => Value) => mapSuccess(responses, read)
  return [
    ...(whole.length === 0
      ? []
      : [
          {
            mark: isPlain ? '' : `#media:${(whole.find(isJson) ?? whole.join(', ')).replaceAll('#', '%23')}#`,
            made: { ...withoutId, responses: change((content) => joinWhole(content)) },
          },
        ]),
    ...[...streams].map(([type, media]) => ({
      mark: `#stream:${type}#`,
      made: {
        ...(type === eventType ? operation : withoutId),
        operationId:
          whole.length + streams.size === 1 ? operationId : `${operationId}${type === eventType ? 'Stream' : 'Lines'}`,
        responses: change(() => ({ 'application/json': { schema: writeItem(type, itemOf(media)) } })),
      },
    })),
  ]
}

function isLastEventId(parameter: Value): boolean {
  return parameter['$ref'] === '#/components/parameters/Last-Event-ID'
}

function isJson(type: string): boolean {
  return /[/+]json$/.test(type)
}

function itemOf(media: unknown): unknown {
  return (media as Value)['x-item-schema']
}

function mapSuccess(responses: Value, change: (content: Value) => Value): Value {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const { content } = response as { content?: Value }
      const isChanged = status.startsWith('2') && content !== undefined
      return [status, isChanged ? { ...(response as Value), content: change(content) } : response]
    }),
  )
}

/** One body that is any of those that are read as a whole. */
function joinWhole(content: Value): Value {
  const schemas = Object.values(content).flatMap((media) =>
    itemOf(media) === undefined ? [(media as Value)['schema'] ?? {}] : [],
  )
  const different = [...new Map(schemas.map((one) => [withoutType(one), one])).values()]
  return { 'application/json': { schema: different.length === 1 ? different[0] : { anyOf: different } } }
}

/** Images of several types are one `Blob`. */
function withoutType(schema: unknown): string {
  return JSON.stringify({ ...(schema as Value), contentMediaType: undefined })
}

function writeItem(type: string, item: unknown): Value {
  if (type !== eventType) return item as Value
  const text = { type: 'string' }
  return { type: 'object', required: ['data'], properties: { event: text, id: text, data: item } }
}
