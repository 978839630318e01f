/** A call of an operation that `divideMedia` has marked. */
const marked =
  /oazapfts\.fetchJson<((?:(?!oazapfts\.fetchJson<)[^])*?)>\(\s*([`'])([^`'\n]*?)#(media|stream):([^#\n]*)#/g

/** Where an operation sends its parameter for the last event. */
const lastEvent = /(?<='Last-Event-ID': )lastEventId\b/g

/** What is added to a client. */
const helpers = [
  'fetchMedia', 'readStream', 'sendRequest', 'readBody', 'ItemOf', 'toHeader', 'pause', 'isTransient', 'readItems', 'parseLine', 'parseEvent',
] // prettier-ignore

/** Makes a generated client read the bodies of marked operations by their media types. */
export function readMarks(client: string): string {
  // The API may have operations and schemas with these names.
  const suffix = ['', 'OfApi', 'OfThisApi'].find((one) => helpers.every((name) => !client.includes(name + one))) ?? ''
  const found = new Set<string>()
  const changed = client.replaceAll(marked, (...[, types, quote, path, kind, accept]: string[]) => {
    found.add(kind!)
    const helper = kind === 'media' ? 'fetchMedia' : 'readStream'
    return `${helper}${suffix}<${types}>('${accept!.replaceAll('%23', '#')}', ${quote}${path}`
  })
  if (found.size === 0) return client
  const encoded = changed.replaceAll(lastEvent, `lastEventId && toHeader${suffix}(lastEventId)`)
  const parts = [sendText, ...(found.has('media') ? [mediaText] : []), ...(found.has('stream') ? [streamText] : [])]
  const text = parts.join('\n').replaceAll(new RegExp(String.raw`\b(?:${helpers.join('|')})\b`, 'g'), `$&${suffix}`)
  return `${encoded.trimEnd()}\n\n${text}`
}

const sendText = `/** Sends a request and returns the response, whose body has not been read. */
async function sendRequest(accept: string, path: string, opts: Oazapfts.RequestOpts = {}): Promise<Response> {
  const send = opts.fetch ?? defaults.fetch ?? fetch
  let response: Response | undefined
  await oazapfts.fetchBlob(path, {
    ...opts,
    headers: oazapfts.mergeHeaders({ Accept: accept }, opts.headers),
    fetch: async (input: RequestInfo | URL, init?: RequestInit) => {
      response = await send(input, init)
      return new Response(null)
    },
  })
  return response!
}

async function readBody(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? ''
  if (/^[^;]*[/+]json\\b/.test(type)) return response.json()
  return type.startsWith('text/') ? response.text() : response.blob()
}
`

const mediaText = `/** JSON is parsed, text is a string, and everything else is a Blob. */
async function fetchMedia<Result extends { status: number; data?: unknown }>(
  accept: string,
  path: string,
  opts?: Oazapfts.RequestOpts,
): Promise<Result & { headers: Headers }> {
  const response = await sendRequest(accept, path, opts)
  const { status, headers } = response
  return { status, headers, data: await readBody(response) } as Result & { headers: Headers }
}
`

const streamText = `type ItemOf<Result> = Result extends { status: 200 | 201 | 202 | 203; data: infer Item } ? Item : never

/**
 * Yields what a stream sends, as it arrives. Leaving the loop closes the connection. If the connection of a GET breaks, the
 * stream continues after the last event, if its events have ids.
 * @throws HttpError
 */
async function* readStream<Result>(
  accept: string,
  path: string,
  opts: Oazapfts.RequestOpts = {},
): AsyncGenerator<ItemOf<Result>, void, undefined> {
  const mayRepeat = (opts.method ?? 'GET') === 'GET'
  let lastId = new Headers(oazapfts.mergeHeaders(opts.headers)).get('Last-Event-ID')
  for (let failures = 0; ; ) {
    try {
      const known = lastId === null ? {} : { 'Last-Event-ID': lastId }
      const headers = oazapfts.mergeHeaders(opts.headers, known)
      const response = await sendRequest(accept, path, { ...opts, headers })
      if (!response.ok) throw new Oazapfts.HttpError(response.status, await readBody(response), response.headers)
      for await (const item of readItems(accept, response)) {
        failures = 0
        const { id } = accept === 'text/event-stream' ? (item as { id?: string }) : {}
        if (id !== undefined) lastId = toHeader(id)
        yield item as ItemOf<Result>
      }
      return
    } catch (error) {
      if (!mayRepeat || lastId === null || opts.signal?.aborted || !isTransient(error)) throw error
      failures += 1
      const longestMs = Math.min(1000 * 2 ** failures, 30_000)
      await pause(longestMs * Math.random(), opts.signal)
      opts.signal?.throwIfAborted()
    }
  }
}

/** Waits, but not longer than until the signal aborts. */
function pause(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}

/** Headers are bytes. */
function toHeader(id: string): string {
  return String.fromCharCode(...new TextEncoder().encode(id))
}

/** Whether a connection broke, or the server is busy or restarting. */
function isTransient(error: unknown): boolean {
  if (error instanceof Oazapfts.HttpError) return [408, 425, 429, 500, 502, 503, 504].includes(error.status)
  return !(error instanceof SyntaxError)
}

async function* readItems(type: string, response: Response): AsyncGenerator<unknown, void, undefined> {
  const separator = type === 'text/event-stream' ? '\\n\\n' : '\\n'
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  try {
    for (let text = ''; ; ) {
      const { done, value } = await reader.read()
      const parts = (text + decoder.decode(value, { stream: !done })).split(separator)
      text = done && separator === '\\n' ? '' : parts.pop()!
      for (const part of parts) {
        const item = separator === '\\n' ? parseLine(part) : parseEvent(part)
        if (item !== undefined) yield item
      }
      if (done) return
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

function parseLine(line: string): unknown {
  return line.trim() === '' ? undefined : JSON.parse(line)
}

function parseEvent(block: string): { event?: string; id?: string; data: unknown } | undefined {
  const event: { [name: string]: string } = {}
  for (const line of block.split('\\n')) {
    const [, name, value] = /^(event|id|data): ?(.*)$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) event[name] = value
  }
  const { data, ...others } = event
  return data === undefined ? undefined : { ...others, data: JSON.parse(data) }
}
`
