// Follows the requests to `waypost dev`. The stream is read with fetch, because EventSource cannot send a token.
import type { Operations } from './operations.ts'
import { Problem, sendForResponse } from './send.ts'

export type TrafficEntry = Operations['GET /traffic']['lines']

interface Follower {
  /** Oldest first. */
  onEntries(entries: readonly TrafficEntry[]): void
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
export async function followTraffic(after: number, signal: AbortSignal, follower: Follower): Promise<void> {
  let last = after
  while (!signal.aborted) {
    try {
      const response = await sendForResponse('GET', 'traffic', { query: { after: String(last) }, signal })
      follower.onConnected(true)
      for await (const entries of readLines(response.body!)) {
        last = entries.at(-1)!.number
        follower.onEntries(entries)
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

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly TrafficEntry[]> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop()!
    const entries = lines.filter(Boolean).map((line) => JSON.parse(line) as TrafficEntry)
    if (entries.length > 0) yield entries
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
