import { Readable } from 'node:stream'
import { hideSecretsInUrl, hideTokens } from '../../kit/index.ts'
import type { RequestReport } from '../../runtime/index.ts'

export interface TrafficEntry extends RequestReport {
  /** Increases with each request. */
  readonly number: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The last requests to the server of `dev`, in memory. */
export interface TrafficLog {
  add(report: RequestReport, at: number): void
  /**
   * Streams the requests after a number, oldest first, and then each one as it happens, as lines of JSON. A slow reader
   * misses requests that are no longer kept.
   * @param format makes the value of a line
   */
  stream(after: number, format: (entry: TrafficEntry) => object): Readable
  /**
   * Streams the lines of a source. If the stream is ended, the next one with the same key within a moment continues the
   * source, so that no line is lost. If its reader leaves, the source is closed.
   * @param key one for each reader
   * @throws what `open` or `confirm` throws
   */
  streamSource(key: string, open: OpenSource): Promise<Readable>
  /** Ends all streams: they would keep the server and replaced generations open. */
  endStreams(): void
  /** Ends all streams and closes their sources. */
  close(): Promise<void>
}

/** Opens what passes lines to a stream, such as a subscription. */
export type OpenSource = (push: (line: object) => void) => Promise<{
  /** Called before another stream continues it. @throws if it may not */
  confirm(): Promise<void>
  close(): Promise<void>
}>

interface Source {
  readonly key: string
  /** Undefined until it is open. */
  opened?: Awaited<ReturnType<OpenSource>>
  /** The stream that reads it, or read it last. */
  stream?: Readable
  isTaken: boolean
  /** Lines for the next stream. */
  readonly waiting: string[]
  closing?: NodeJS.Timeout
}

const maxEntries = 500
const maxText = 2048
/** Less than the lifetime of tokens, which are checked when a stream begins. */
const maxStreamMs = 5 * 60_000
/** How long a source waits for its next stream. Longer than a reload takes. */
const maxGapMs = 30_000

/** Streams that end before the tokens of their readers do, with what continues each one. */
function makeStreams() {
  const streams = new Map<Readable, () => void>()
  const end = (stream: Readable) => {
    streams.delete(stream)
    stream.push(null)
  }
  return {
    end,
    has: (stream: Readable) => streams.has(stream),
    follow(stream: Readable, pushNew = () => {}) {
      const ending = setTimeout(end, maxStreamMs, stream).unref()
      stream.once('close', () => {
        clearTimeout(ending)
        streams.delete(stream)
      })
      stream.push('\n') // sends the headers
      streams.set(stream, pushNew)
    },
    continueAll() {
      for (const continueStream of streams.values()) continueStream()
    },
    endAll() {
      for (const stream of streams.keys()) end(stream)
    },
  }
}

function makeSources(streams: ReturnType<typeof makeStreams>) {
  const sources = new Set<Source>()
  const push = ({ stream, waiting }: Source, line: object) => {
    const text = `${JSON.stringify(line)}\n`
    if (stream !== undefined && streams.has(stream)) stream.push(text)
    else if (waiting.length < maxEntries) waiting.push(text)
  }
  const closeSource = async (source: Source) => {
    clearTimeout(source.closing)
    if (sources.delete(source)) await source.opened?.close()
  }
  return {
    async stream(key: string, open: OpenSource): Promise<Readable> {
      const known = [...sources].find((one) => one.key === key && !one.isTaken)
      const source: Source = known ?? { key, isTaken: true, waiting: [] }
      source.isTaken = true
      clearTimeout(source.closing)
      sources.add(source)
      const leave = () => void closeSource(source).catch(() => undefined) // the next listener removes the rest
      try {
        if (source === known) await source.opened?.confirm()
        else source.opened = await open((line) => push(source, line))
      } catch (error) {
        leave()
        throw error
      }
      const stream = new Readable({ read() {} })
      source.stream = stream
      streams.follow(stream)
      for (const text of source.waiting.splice(0)) stream.push(text)
      stream.once('close', () => {
        source.isTaken = false
        if (stream.readableEnded) source.closing = setTimeout(leave, maxGapMs).unref()
        else leave()
      })
      if (!sources.has(source)) {
        streams.end(stream) // the server has closed meanwhile
        if (source !== known) await source.opened?.close()
      }
      return stream
    },
    closeAll: () => Promise.allSettled([...sources].map(closeSource)),
  }
}

/** @param start the number before that of the first request: the time, so that numbers also increase after a restart */
export function makeTrafficLog(start = 0): TrafficLog {
  let entries: TrafficEntry[] = []
  let number = start
  const streams = makeStreams()
  const sources = makeSources(streams)
  return {
    streamSource: sources.stream,
    add(report, at) {
      number += 1
      entries.push({
        ...report,
        path: hideSecretsInUrl(report.path),
        reason: report.reason === undefined ? undefined : hideTokens(report.reason.slice(0, maxText)),
        number,
        at,
      })
      if (entries.length > 2 * maxEntries) entries = entries.slice(-maxEntries)
      streams.continueAll()
    },
    stream(after, format) {
      let last = after
      let isWanted = false
      const pushNew = () => {
        const fresh = isWanted ? entries.slice(-maxEntries).filter((one) => one.number > last) : []
        if (fresh.length === 0) return
        last = number
        isWanted = false
        stream.push(fresh.map((one) => `${JSON.stringify(format(one))}\n`).join(''))
      }
      const stream = new Readable({
        read() {
          isWanted = true
          pushNew()
        },
      })
      streams.follow(stream, pushNew)
      return stream
    },
    endStreams: streams.endAll,
    async close() {
      streams.endAll()
      await sources.closeAll()
    },
  }
}
