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
  /** Starts another stream of lines, which ends like those of requests. */
  follow(stream: Readable): void
  /** Ends all streams: they would keep the server and replaced generations open. */
  endStreams(): void
}

const maxEntries = 500
const maxText = 2048
/** Less than the lifetime of tokens, which are checked when a stream begins. */
const maxStreamMs = 5 * 60_000

/** @param start the number before that of the first request: the time, so that numbers also increase after a restart */
export function makeTrafficLog(start = 0): TrafficLog {
  let entries: TrafficEntry[] = []
  let number = start
  const streams = new Map<Readable, () => void>()
  const follow = (stream: Readable, pushNew = () => {}) => {
    const ending = setTimeout(() => stream.push(null), maxStreamMs).unref()
    stream.once('close', () => {
      clearTimeout(ending)
      streams.delete(stream)
    })
    stream.push('\n') // sends the headers
    streams.set(stream, pushNew)
  }
  return {
    follow: (stream) => follow(stream),
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
      for (const continueStream of streams.values()) continueStream()
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
      follow(stream, pushNew)
      return stream
    },
    endStreams() {
      for (const stream of streams.keys()) stream.push(null)
      streams.clear()
    },
  }
}
