// Follows streams of `waypost dev`. They are read with fetch, because EventSource cannot send a token.
import type { Operations } from '../../api/operations.ts'
import { Problem, sendForResponse } from './send.ts'

export type TrafficEntry = Operations['GET /traffic']['lines']
export type Received = Operations['GET /event/:name/listen']['lines']

interface Follower<Line> {
  /** Oldest first. */
  onLines(lines: readonly Line[]): void
  /** Called when the stream is open, or cannot be opened; it is then opened again. */
  onConnected(isConnected: boolean): void
}

const retryMs = 1000
/** What arrives meanwhile is drawn at once. */
const drawMs = 100

/**
 * Follows requests until it is aborted.
 * @param after the number of the last request that is known
 * @throws Problem if the server rejects it, SignInCancelled
 */
export function followTraffic(after: number, signal: AbortSignal, follower: Follower<TrafficEntry>): Promise<void> {
  let last = after
  const open = () => sendForResponse('GET', 'traffic', { query: { after: String(last) }, signal })
  return follow<TrafficEntry>(open, signal, {
    ...follower,
    onLines(lines) {
      last = lines.at(-1)!.number
      follower.onLines(lines)
    },
  })
}

/**
 * Subscribes to an event and follows its deliveries until it is aborted.
 * @throws Problem if the server rejects it, SignInCancelled
 */
export function followEvent(event: string, signal: AbortSignal, follower: Follower<Received>): Promise<void> {
  const query = { reader: crypto.randomUUID() }
  const open = () => sendForResponse('GET', `event/${encodeURIComponent(event)}/listen`, { query, signal })
  return follow(open, signal, follower)
}

async function follow<Line>(
  open: () => Promise<Response>,
  signal: AbortSignal,
  follower: Follower<Line>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await open()
      follower.onConnected(true)
      for await (const lines of readLines<Line>(response.body!)) {
        follower.onLines(lines)
        await pause(drawMs)
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isTemporary(error)) throw error
      follower.onConnected(false)
      await pause(retryMs)
    }
  }
}

/** Whether the connection was lost, or the server is starting or stopping. */
function isTemporary(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Problem && error.status >= 500)
}

async function* readLines<Line>(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly Line[]> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop()!
    const entries = lines.filter(Boolean).map((line) => JSON.parse(line) as Line)
    if (entries.length > 0) yield entries
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
