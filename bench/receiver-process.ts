// The subscribers of `bench/events.ts` in their own process: respond with 200 to each POST and count.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monotonicMicros } from './micros.ts'

/** What arrived since the last report. */
export interface ReceiverReport {
  readonly received: number
  /** With a valid Standard Webhooks signature. */
  readonly signed: number
  /** Milliseconds from the time in each body until its arrival, if the body contains a time. */
  readonly latenciesMs: readonly number[]
}

if (import.meta.main) await serve()

async function serve(): Promise<void> {
  let received = 0
  let signed = 0
  let latenciesMs: number[] = []
  const server = createServer((request, response) => {
    received += 1
    if (request.headers['webhook-signature'] !== undefined) signed += 1
    if (request.url === '/timed') {
      request.setEncoding('utf8').once('data', (text: string) => {
        latenciesMs.push((monotonicMicros() - (JSON.parse(text) as { sentAt: number }).sentAt) / 1000)
      })
    } else request.resume()
    request.once('end', () => response.end())
  })
  process.on('message', () => {
    const report: ReceiverReport = { received, signed, latenciesMs }
    received = signed = 0
    latenciesMs = []
    process.send!(report)
  })
  server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
}
